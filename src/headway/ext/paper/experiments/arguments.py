"""Arguments in the paper's text, each counted, timed or trained (sections 2, 3.1, 3.2, 3.4 and 4)."""

from collections.abc import Mapping

import torch

from headway.ext.paper.experiments import arguments_embeddings, arguments_heads, arguments_mask
from headway.ext.paper.measuring.costs import count_operations, processor_seconds
from headway.ext.paper.measuring.fitting import fit_sum
from headway.ext.paper.measuring.layer_types import BY_NAME
from headway.ext.paper.measuring.operation_counter import OperationCounter
from headway.ext.paper.measuring.paths import layers_by_formula, layers_by_gradient
from headway.ext.paper.results import Cell, Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import holds, shown
from headway.model import FeedForward, MultiHeadAttention

PARTS = (arguments_heads, arguments_mask, arguments_embeddings)  # which train translators
ATTENTION = (512, 64)  # width and positions
SEPARABLE = (16, 32, 64, 128)  # widths, and positions less one
CONVOLUTION = 64  # width
WINDOWS = 65  # positions


def count(work: Study) -> list[Finding]:
    """Count and time layers."""
    work.show("arguments: counts and times")
    return [
        *compare_heads(*ATTENTION),
        *compare_separable(SEPARABLE),
        *compare_convolution(CONVOLUTION),
        *compare_windows(WINDOWS),
    ]


def plan(work: Study) -> list[PlannedTrial]:
    """Return translators with one head, without mask, and without sqrt(d_model), beside the usual ones."""
    return [planned for part in PARTS for planned in part.plan(work)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Judge these translators, and layers with one head and several that are trained here."""
    work.show("arguments: one head and many")
    found: list[Finding] = [*arguments_heads.compare_two_targets(work)]
    return found + [finding for part in PARTS for finding in part.conclude(work, groups)]


def compare_heads(d: int, n: int) -> tuple[Table, Claim]:
    """Count and time attention with h heads of width d / h."""
    rows = []
    products = set()
    x = torch.randn(1, n, d)
    for heads in (1, 2, 4, 8):
        attention = MultiHeadAttention(d, heads, d // heads, d // heads).eval()
        with torch.no_grad(), OperationCounter() as counter:
            attention(x, x)
        products.add(counter.operations)
        spent = processor_seconds(lambda layer=attention: layer(x, x), repeats=3)  # type: ignore[misc]
        rows.append((heads, d // heads, counter.operations, counter.functions, 1e3 * spent))
    table = Table(
        f"Attention of {n} positions with heads of d_model / h, d_model = {d}",
        ("heads", "d_k", "multiplications", "exponentials", "ms"),
        tuple(rows),
        "Each head has a softmax of its own: exponentials grow with h, products do not.",
    )
    claim = Claim(
        "h heads cost what one head of full dimensionality costs.",
        "similar",
        f"{'equal' if len(products) == 1 else 'different'} multiplications; 8 heads take {rows[-1][-1] / rows[0][-1]:.2f} times the time of one",
        shown(len(products) == 1),
        "counted while the layer ran; processor time on one thread",
        "3.2.2",
    )
    return table, claim


def compare_separable(sizes: tuple[int, ...]) -> tuple[Table, Claim]:
    """Count a separable convolution as wide as its sentence, and attention with a feed-forward."""
    # A centered kernel is odd, so n is odd too.
    places = [(n + 1, d) for n in sizes for d in sizes]
    terms = [[float(n * n * d) for n, d in places], [float(n * d * d) for n, d in places]]
    separable = [count_operations(BY_NAME["separable"], n, d, k=n).mixing for n, d in places]
    both = []
    for n, d in places:
        cost = count_operations(BY_NAME["self-attention"], n, d)
        with torch.no_grad(), OperationCounter() as counter:
            FeedForward(d, 4 * d)(torch.randn(1, n, d))
        both.append(cost.mixing + cost.projections + counter.operations)
    first, second = fit_sum(separable, terms), fit_sum(both, terms)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("separable, k = n", *first.coefficients, first.error),
        ("attention + feed-forward", *second.coefficients, second.error),
    )
    n, d = places[-1]
    fits = max(first.error, second.error) < 0.1
    claim = Claim(
        "With k = n, the cost of a separable convolution grows as that of self-attention and a feed-forward.",
        "O(n²·d + n·d²), both",
        f"{'the same two terms' if fits else 'other terms'}; at n = {n}, d = {d} attention and feed-forward need"
        f" {both[-1] / separable[-1]:.1f} times as many multiplications",
        holds(fits),
        "as orders of growth; the table has the constants, which differ",
        "4",
    )
    table = Table(
        "Multiplications fitted as a·n²·d + b·n·d²", ("what", "a", "b", "largest error"), rows
    )
    return table, claim


def compare_convolution(d: int) -> tuple[Table, Claim]:
    """Count convolutions of several kernels against a recurrent layer of the same width."""
    n, kernels = 32, (3, 5, 7, 9)
    cost = count_operations(BY_NAME["recurrent"], n, d)
    lstm = cost.mixing + cost.projections
    plain = n * d * d  # one map of the state at each position, as in Table 1
    counts = [count_operations(BY_NAME["convolution"], n, d, k=k).mixing for k in kernels]
    claim = Claim(
        "A convolution costs k times what a recurrence of one map costs.",
        "k",
        f"at k = {kernels[-1]} {counts[-1] / plain:.2f} times a recurrence of one map; an LSTM of the"
        f" same width costs as much as k = {lstm / plain:.2f}",
        holds(
            all(abs(count / plain / k - 1) < 0.01 for k, count in zip(kernels, counts, strict=True))
        ),
        "multiplications; the paper's recurrent layer costs n·d²",
        "4",
    )
    table = Table(
        f"Multiplications of a convolution, {n} positions of width {d}",
        ("k", "multiplications", "over n·d²", "over this package's LSTM layer"),
        tuple((k, c, c / plain, c / lstm) for k, c in zip(kernels, counts, strict=True)),
        "The LSTM counts its four gates and the maps of its input.",
    )
    return table, claim


def compare_windows(n: int) -> tuple[Table, Claim]:
    """Find how many layers of restricted attention connect the two ends of a sentence."""
    layer, rows, same = BY_NAME["restricted"], [], True
    for r in (r for r in (3, 5, 9, 17, 33) if r <= n):
        for causal in (False, True):
            found = layers_by_gradient(layer, n, r=r, causal=causal)
            formula = layers_by_formula(layer, n, r=r, causal=causal)
            same &= found == formula
            rows.append((r, "causal" if causal else "centered", found, formula, n / r))
    table = Table(
        f"Layers until the ends of {n} positions meet, restricted to r",
        ("r", "window", "found", "formula", "n/r"),
        tuple(rows),
        "Centered: ceil((n-1) / ((r-1)/2)), half of the window to either side; causal:"
        " ceil((n-1) / (r-1)).",
    )
    claim = Claim(
        "Restricting attention to r neighbors makes the longest path O(n/r).",
        "n/r",
        "equal to the formula for every r" if same else "differs from the formula",
        shown(same),
        "by gradients; a centered window has 2n/r",
        "4",
    )
    return table, claim
