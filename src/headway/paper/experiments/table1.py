"""Table 1: what the rivals of self-attention cost, and how far apart they leave two positions.

Counted, timed and found by experiment on this package's own layers; then each as a translator.
Paper: section 4.
"""

import time

from headway.paper.charts import curves
from headway.paper.experiments.table1_time import measured
from headway.paper.experiments.table1_translators import translators
from headway.paper.measuring.costs import Cost, count
from headway.paper.measuring.fitting import crossing, exponents, fit_sum
from headway.paper.measuring.layer_types import BY_NAME, RIVALS, Rival
from headway.paper.measuring.paths import layers_by_formula, layers_needed, states_between
from headway.paper.results import Cell, Claim, Figure, Result, Table
from headway.paper.running.work import Work

TITLE = "Complexity, sequential operations and path lengths of layer types"
SECTION = "4, Table 1"
KERNEL, WINDOW = 3, 32
# A block of restricted attention holds 64 queries: lengths are multiples of it, and longer than what
# attention stores whole.
LONG = {"toy": (320, 640), "minutes": (320, 640, 1280)}
SHORT = {"toy": (16, 32), "minutes": (32, 64, 128)}
WIDTHS = {"toy": (64, 128), "minutes": (64, 128, 256, 512)}
# Differing exponents of a count; the paper's terms are exact but for what is of lower order.
COUNT_MARGIN = 0.05


def run(work: Work) -> Result:
    """Do all of it."""
    begin = time.perf_counter()
    size = work.pick(toy="toy", minutes="minutes")
    work.say("table 1: counting operations")
    counts, count_claims = _counted(LONG[size], SHORT[size], WIDTHS[size])
    work.say("table 1: path lengths and sequential steps, by experiment")
    paths, path_claims = _paths((7, 26) if size == "toy" else (7, 26, 64, 101))
    steps, step_claims = _sequential(SHORT[size])
    figure, crossed = _crossover(64 if size == "toy" else 128)
    work.say("table 1: measuring time and memory")
    times, time_claims = measured(size)
    work.say("table 1: the same layers as translators")
    scores, quality = translators(work)
    return Result(
        "table1",
        TITLE,
        SECTION,
        (counts, paths, steps, *times, scores),
        (figure,),
        (*count_claims, *path_claims, *step_claims, crossed, *time_claims, *quality),
        "The paper states orders of growth; here they are counted and measured, constants included."
        " The recurrent layer is an LSTM, four gates, one direction each of half the width;"
        " dilation grows as k^layer. Translators are small, trained for long enough to translate and not"
        " to the end: who learns faster is ahead.",
        time.perf_counter() - begin,
        {
            "k": KERNEL,
            "r": WINDOW,
            "widths": list(WIDTHS[size]),
            "positions": [*LONG[size], *SHORT[size]],
        },
    )


def _lengths(rival: Rival, long: tuple[int, ...], short: tuple[int, ...]) -> tuple[int, ...]:
    return long if rival.word == "attention" else short


def _counted(
    long: tuple[int, ...], short: tuple[int, ...], widths: tuple[int, ...]
) -> tuple[Table, list[Claim]]:
    rows, claims = [], []
    for rival in RIVALS:
        sizes = [(n, d) for n in _lengths(rival, long, short) for d in widths]
        costs = [count(rival, n, d, k=KERNEL, r=WINDOW) for n, d in sizes]
        ns, ds = [n for n, _ in sizes], [d for _, d in sizes]
        n, d = sizes[-1]
        for term, amounts, expected in _terms(rival, costs):
            found = exponents(amounts, {"n": ns, "d": ds})
            near = all(abs(found[name] - expected[name]) <= COUNT_MARGIN for name in expected)
            ours = f"n^{found['n']:.3f} · d^{found['d']:.3f}"
            rows.append(
                (rival.name, term, ours, n, d, amounts[-1], costs[-1].projections,
                 costs[-1].functions)
            )  # fmt: skip
            claims.append(
                Claim(
                    f"A layer of type {rival.name} mixes positions with O({term}) operations.",
                    term, ours, "holds" if near else "does not",
                    f"counted while it ran; within {COUNT_MARGIN} of both exponents counts as so",
                    "4, Table 1",
                )
            )  # fmt: skip
        if len(rival.terms) > 1:
            terms = [[term(n, d, KERNEL, WINDOW) for n, d in sizes] for term in rival.terms]
            total = fit_sum([cost.mixing for cost in costs], terms)
            ours = " + ".join(f"{a:.3f} × term {i + 1}" for i, a in enumerate(total.coefficients))
            rows.append((rival.name, rival.said[0], f"{ours}; largest error {total.error:.1e}",
                         n, d, costs[-1].mixing, 0, 0))  # fmt: skip
    note = (
        "Multiplications of one sentence at the largest n and d. Projections (W^Q, W^K, W^V, W^O; a"
        " recurrence's maps of its input) mix nothing and stand apart; they are n·d² everywhere."
        f" k = {KERNEL}. Restricted attention, r = {WINDOW}, goes in blocks of 64 queries, which see"
        " r - 1 positions more: 95 products a query instead of 32, for every n."
    )
    columns = ("layer", "the paper's O", "fitted", "n", "d", "mixing", "projections", "functions")
    return Table("Operations, counted from the running layers", columns, tuple(rows), note), claims


def _terms(rival: Rival, costs: list[Cost]) -> list[tuple[str, list[int], dict[str, float]]]:
    """Return what is fitted: a sum's summands each by themselves, which can be told apart."""
    match rival.name:
        case "self-attention":
            return [("n²·d", [c.mixing for c in costs], {"n": 2, "d": 1})]
        case "restricted":
            return [("r·n·d", [c.mixing for c in costs], {"n": 1, "d": 1})]
        case "separable":
            return [
                ("k·n·d", [c.elementwise for c in costs], {"n": 1, "d": 1}),
                ("n·d²", [c.mixing - c.elementwise for c in costs], {"n": 1, "d": 2}),
            ]
        case _:
            return [(rival.said[0], [c.mixing for c in costs], {"n": 1, "d": 2})]


def _paths(lengths: tuple[int, ...]) -> tuple[Table, list[Claim]]:
    rows: list[tuple[Cell, ...]] = []
    equal = dict.fromkeys(BY_NAME, True)
    for rival in RIVALS:
        for n in lengths:
            if rival.name == "recurrent":
                if n <= 64:  # n runs of n steps each
                    found: int | None = states_between(n)
                    equal[rival.name] &= found == n
                    rows.append((rival.name, "n", n, found, n, found))
                continue
            for causal in (False, True):
                values = {"k": 5, "r": 5, "causal": causal}
                found = layers_needed(rival, n, **values)  # type: ignore[arg-type]
                formula = layers_by_formula(rival, n, **values)  # type: ignore[arg-type]
                alone = layers_needed(rival, n, **values, alone=True)  # type: ignore[arg-type]
                equal[rival.name] &= found == formula
                kind = f"{rival.said[2]}, {'causal' if causal else 'centred'}"
                rows.append((rival.name, kind, n, found, formula, alone or "never"))
    table = Table(
        "Longest path between positions n - 1 apart, in layers (recurrent: in states)",
        ("layer", "the paper's O, and ours", "n", "found", "formula", "ends of one sentence"),
        tuple(rows),
        "k = r = 5. Found: layers until a gradient arrives, or for the recurrence how many states"
        " cannot be cut without losing it, and one. Formula, centred: ceil((n-1)/((k-1)/2)),"
        " dilated ceil(log_k(2n-1)); causal: ceil((n-1)/(k-1)), dilated ceil(log_k n). Centred"
        " dilated layers may reach a position only by way of one outside the sentence: the ends of"
        " some lengths never meet, whatever is put on top.",
    )
    claims = [
        Claim(
            f"Longest path of {name}: O({BY_NAME[name].said[2]}).",
            BY_NAME[name].said[2],
            "equal to the exact formula at every n" if same else "differs from the formula",
            "shown" if same else "does not",
            "gradient reach",
            "4, Table 1",
        )
        for name, same in equal.items()
    ]
    return table, claims


def _sequential(lengths: tuple[int, ...]) -> tuple[Table, list[Claim]]:
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for rival in RIVALS:
        depths = [count(rival, n, 64, depths=True).depth for n in lengths]
        grows = rival.name == "recurrent"
        right = depths == list(lengths) if grows else len(set(depths)) == 1
        said = rival.said[1]
        rows.append((rival.name, f"O({said})", *depths))
        claims.append(
            Claim(
                f"Sequential operations of {rival.name}: O({said}).",
                f"O({said})",
                "n exactly"
                if grows and right
                else f"{depths[-1]} for every n"
                if right
                else "other",
                "shown" if right else "does not",
                "longest chain of matrix products of which each needs the one before",
                "4, Table 1",
            )
        )
    title = "Sequential steps: longest chain of dependent matrix products in one layer"
    return Table(title, ("layer", "paper", *(f"n = {n}" for n in lengths)), tuple(rows)), claims


def _crossover(d: int) -> tuple[Figure, Claim]:
    """Count self-attention and recurrence on lengths around d."""
    lengths = [d // 4, d // 2, d, 2 * d, 4 * d]
    counted = {}
    for name in ("self-attention", "recurrent"):
        costs = [count(BY_NAME[name], n, d) for n in lengths]
        counted[name] = [cost.mixing for cost in costs]
        counted[f"{name}, with projections"] = [c.mixing + c.projections for c in costs]
    found = crossing(lengths, counted["self-attention"], counted["recurrent"])
    drawn = curves(
        f"Operations of one layer of width d = {d}: self-attention and an LSTM cross at n = d",
        {name: list(zip(lengths, y, strict=True)) for name, y in counted.items()},
        "n, positions", "multiplications", log_x=True, log_y=True, marks=True,
    )  # fmt: skip
    near = found is not None and abs(found / d - 1) < 0.1
    claim = Claim(
        "Self-attention layers are faster than recurrent ones where n is smaller than d.",
        "n = d",
        f"counts cross at n = {found:.0f}, d = {d}" if found else "counts do not cross",
        "holds" if near else "does not",
        "two directions of d/2, four gates: 2nd² + 3nd; attention: 2n²d",
        "4",
    )
    return drawn, claim
