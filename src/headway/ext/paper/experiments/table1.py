"""Table 1: what the other layer types cost, and how far apart they leave two positions.

Operations are counted, times measured and paths found by gradients on this package's own layers; then
each layer type is trained as a translator. Paper: section 4.
"""

from collections.abc import Mapping
from dataclasses import replace

from headway.ext.paper.charts import curves
from headway.ext.paper.measuring.costs import Cost, count_operations
from headway.ext.paper.measuring.fitting import find_crossing, fit_exponents, fit_sum
from headway.ext.paper.measuring.layer_types import BY_NAME, LAYER_TYPES, LayerType
from headway.ext.paper.measuring.paths import (
    layers_by_formula,
    layers_by_gradient,
    states_by_gradient,
)
from headway.ext.paper.results import Cell, Claim, Figure, Finding, Table
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import holds, shown

KERNEL, WINDOW = 3, 32
TRAINED_WINDOW = 8  # of translators
WINDOWS = (32, 64, 128)  # of restricted attention, whose r is fitted
# A block of restricted attention holds 64 queries: lengths are multiples of it, and long enough for
# attention not to store all its weights.
LONG = (320, 640, 1280)
SHORT = (32, 64, 128)
WIDTHS = (64, 128, 256, 512)
PATHS = (7, 26, 64, 101)  # positions from one end to the other
CROSSING = 128  # the width at which self-attention and recurrence are compared
# Counted exponents differ from the paper's by terms of lower order.
MARGIN = 0.05


def count(work: Study) -> list[Finding]:
    """Count and measure all layer types."""
    return [
        *count_layers(LONG, SHORT, WIDTHS), fit_window(LONG[-1], WIDTHS[-1]), *find_paths(PATHS),
        *count_steps(SHORT), *compare_with_recurrence(CROSSING),
    ]  # fmt: skip


def plan(work: Study) -> list[PlannedTrial]:
    """Return encoder-decoders that differ in what mixes positions, and in nothing else."""
    base = work.base
    return [
        PlannedTrial(
            layer.name,
            replace(
                base,
                model=replace(
                    base.model,
                    encoder_mixer=layer.mixer_name,
                    decoder_mixer=layer.mixer_name,
                    window=TRAINED_WINDOW if layer.name == "restricted" else 0,
                    kernel_size=KERNEL,
                ),
            ),
        )
        for layer in LAYER_TYPES
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Return the scores of each type."""
    return [
        score_table(
            "Translators that differ only in their mixers",
            "layer", ("BLEU", "perplexity", "tokens/s", "parameters"), groups,
            f"{work.seeds_note} r = {TRAINED_WINDOW}, k = {KERNEL}. Encoder-decoder attention is the same in all.",
        )
    ]  # fmt: skip


def count_layers(
    long: tuple[int, ...], short: tuple[int, ...], widths: tuple[int, ...]
) -> list[Finding]:
    """Count the operations of each layer type, and fit the exponents of n and d."""
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for layer in LAYER_TYPES:
        lengths = long if layer.mixer_name == "attention" else short
        sizes = [(n, d) for n in lengths for d in widths]
        costs = [count_operations(layer, n, d, k=KERNEL, r=WINDOW) for n, d in sizes]
        ns, ds = [n for n, _ in sizes], [d for _, d in sizes]
        n, d = sizes[-1]
        for term, amounts, expected in terms_to_fit(layer, costs):
            found = fit_exponents(amounts, {"n": ns, "d": ds})
            near = all(abs(found[name] - expected[name]) <= MARGIN for name in expected)
            ours = f"n^{found['n']:.3f} · d^{found['d']:.3f}"
            last = costs[-1]
            rows.append(
                (layer.name, term, ours, n, d, amounts[-1], last.projections, last.functions)
            )
            claims.append(
                Claim(
                    f"A layer of type {layer.name} mixes positions with O({term}) operations.",
                    term,
                    ours,
                    holds(near),
                    f"counted while the layer ran; holds if both exponents are within {MARGIN}",
                )
            )
        if len(layer.terms) > 1:
            terms = [[term(n, d, KERNEL, WINDOW) for n, d in sizes] for term in layer.terms]
            total = fit_sum([cost.mixing for cost in costs], terms)
            ours = " + ".join(f"{a:.3f} × term {i + 1}" for i, a in enumerate(total.coefficients))
            ours += f"; largest error {total.error:.1e}"
            rows.append((layer.name, layer.complexity, ours, n, d, costs[-1].mixing, 0, 0))
    note = (
        "Multiplications of one sentence at the largest n and d. Projections (W^Q, W^K, W^V, W^O; a"
        " recurrence's maps of its input) mix no positions and are counted apart; they are n·d²"
        f" everywhere. k = {KERNEL}. Restricted attention, r = {WINDOW}, goes in blocks of 64 queries,"
        " which see r - 1 positions more: 95 products a query instead of 32, for every n."
    )
    columns = ("layer", "the paper's O", "fitted", "n", "d", "mixing", "projections", "functions")
    title = "Operations, counted from the running layers"
    return [Table(title, columns, tuple(rows), note), *claims]


def fit_window(n: int, d: int) -> Claim:
    """Count restricted attention with several windows: blocks of queries read some keys more than r each."""
    counts = [count_operations(BY_NAME["restricted"], n, d, r=r).mixing for r in WINDOWS]
    by_term = fit_sum(counts, [[float(r * n * d) for r in WINDOWS], [float(n * d)] * len(WINDOWS)])
    slope, constant = by_term.coefficients
    return Claim(
        "The operations of a layer of type restricted grow in proportion to r.",
        "r·n·d",
        f"{slope:.3f} · r·n·d + {constant:.1f} · n·d; largest error {by_term.error:.1e}",
        holds(by_term.error < MARGIN and slope > 1),
        f"counted at r = {', '.join(map(str, WINDOWS))}: a block of 64 queries reads 63 keys more than r; holds if both terms"
        f" fit within {MARGIN:.0%}",
    )


def terms_to_fit(
    layer: LayerType, costs: list[Cost]
) -> list[tuple[str, list[int], dict[str, float]]]:
    """Return each term with its counts and the paper's exponents; the two of a sum are apart."""
    mixing = [cost.mixing for cost in costs]
    match layer.name:
        case "self-attention":
            return [(layer.complexity, mixing, {"n": 2, "d": 1})]
        case "restricted":
            return [(layer.complexity, mixing, {"n": 1, "d": 1})]
        case "separable":
            return [
                ("k·n·d", [c.elementwise for c in costs], {"n": 1, "d": 1}),
                ("n·d²", [c.mixing - c.elementwise for c in costs], {"n": 1, "d": 2}),
            ]
        case _:
            return [(layer.complexity, mixing, {"n": 1, "d": 2})]


def find_paths(lengths: tuple[int, ...]) -> list[Finding]:
    """Find the longest path of each layer type by gradients, and compare it with its formula."""
    rows: list[tuple[Cell, ...]] = []
    is_equal: dict[tuple[str, str], bool] = {}  # for a layer and its kind

    def compare(
        layer: LayerType, kind: str, n: int, found: Cell, formula: int, alone: Cell
    ) -> None:
        """Add the row of a sentence, of which only its own positions count for the verdict."""
        rows.append((layer.name, f"{layer.path}{kind}", n, found, formula, alone or "never"))
        is_equal[layer.name, kind] = is_equal.get((layer.name, kind), True) and alone == formula

    for layer in LAYER_TYPES:
        for n in lengths:
            if layer.name == "recurrent":
                states = states_by_gradient(n)
                compare(layer, "", n, states, n, states)
                continue
            for kind, causal in ((", centered", False), (", causal", True)):
                found, alone = (
                    layers_by_gradient(layer, n, k=5, r=5, causal=causal, alone=is_alone)
                    for is_alone in (False, True)
                )
                formula = layers_by_formula(layer, n, k=5, r=5, causal=causal)
                compare(layer, kind, n, found, formula, alone)
    table = Table(
        "Longest path between positions n - 1 apart, in layers (recurrent: in states)",
        ("layer", "the paper's O, and ours", "n", "found", "formula", "ends of one sentence"),
        tuple(rows),
        "k = r = 5. Found: layers until a gradient arrives; for the recurrence, one more than the"
        " states that cannot be cut without losing it. Formula, centered: ceil((n-1)/((k-1)/2)),"
        " dilated ceil(log_k(2n-1)); causal: ceil((n-1)/(k-1)), dilated ceil(log_k n). Centered"
        " dilated layers may reach a position only by way of one outside the sentence: the ends of"
        " some lengths never meet, however many layers there are.",
    )
    claims = [
        Claim(
            f"Longest path of {name}{kind}: O({BY_NAME[name].path}).",
            BY_NAME[name].path,
            "equal to the exact formula at every n"
            if equal
            else "not the formula at every n: see the table",
            shown(equal),
            "by gradients, inside one sentence",
        )
        for (name, kind), equal in is_equal.items()
    ]
    return [table, *claims]


def count_steps(lengths: tuple[int, ...]) -> list[Finding]:
    """Count the sequential operations of each layer type."""
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for layer in LAYER_TYPES:
        depths = [count_operations(layer, n, 64, depths=True).depth for n in lengths]
        if layer.name == "recurrent":
            right, ours = depths == list(lengths), "n exactly"
        else:
            right, ours = len(set(depths)) == 1, f"{depths[-1]} for every n"
        rows.append((layer.name, f"O({layer.sequential})", *depths))
        claims.append(
            Claim(
                f"Sequential operations of {layer.name}: O({layer.sequential}).",
                f"O({layer.sequential})",
                ours if right else "other",
                shown(right),
                "longest chain of matrix products of which each needs the one before",
            )
        )
    title = "Sequential steps: longest chain of dependent matrix products in one layer"
    columns = ("layer", "paper", *(f"n = {n}" for n in lengths))
    return [Table(title, columns, tuple(rows)), *claims]


def compare_with_recurrence(d: int) -> tuple[Figure, Claim]:
    """Count self-attention and recurrence on lengths around d."""
    lengths = [d // 4, d // 2, d, 2 * d, 4 * d]
    counts = {}
    for name in ("self-attention", "recurrent"):
        costs = [count_operations(BY_NAME[name], n, d) for n in lengths]
        counts[name] = [cost.mixing for cost in costs]
        counts[f"{name}, with projections"] = [c.mixing + c.projections for c in costs]
    crossing = find_crossing(lengths, counts["self-attention"], counts["recurrent"])
    figure = curves(
        f"Operations of one layer of width d = {d}: self-attention and an LSTM cross at n = d",
        {name: list(zip(lengths, y, strict=True)) for name, y in counts.items()},
        "n, positions", "multiplications", log_x=True, log_y=True, marks=True,
    )  # fmt: skip
    claim = Claim(
        "Self-attention layers need fewer operations than recurrent ones where n is smaller than d.",
        "n = d",
        f"counts cross at n = {crossing:.0f}, d = {d}" if crossing else "counts do not cross",
        holds(crossing is not None and abs(crossing / d - 1) < 0.1),
        "two directions of d/2, four gates: 2nd² + 3nd; attention: 2n²d",
        "4",
    )
    return figure, claim
