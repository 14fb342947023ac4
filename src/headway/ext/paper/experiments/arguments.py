"""Arguments in the paper's text, each counted or trained (sections 2, 3.1, 3.2 and 4)."""

from collections.abc import Mapping

import torch

from headway.ext.paper.experiments import arguments_heads, arguments_mask
from headway.ext.paper.measuring.costs import count_operations
from headway.ext.paper.measuring.fitting import fit_sum
from headway.ext.paper.measuring.layer_types import BY_NAME
from headway.ext.paper.measuring.operation_counter import OperationCounter
from headway.ext.paper.results import Cell, Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import holds, shown
from headway.model import FeedForward, MultiHeadAttention

PARTS = (arguments_heads, arguments_mask)  # which train translators
ATTENTION = (512, 64)  # width and positions
SEPARABLE = (16, 32, 64, 128)  # widths, and positions less one


def count(work: Study) -> list[Finding]:
    """Count layers."""
    return [
        *compare_heads(*ATTENTION),
        *compare_separable(SEPARABLE),
    ]


def plan(work: Study) -> list[PlannedTrial]:
    """Return translators with one head and without mask, beside the usual ones."""
    return [planned for part in PARTS for planned in part.plan(work)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Judge these translators, and layers with one head and several that are trained here."""
    found: list[Finding] = [*arguments_heads.compare_two_targets(work)]
    return found + [finding for part in PARTS for finding in part.conclude(work, groups)]


def compare_heads(d: int, n: int) -> tuple[Table, Claim]:
    """Count attention with h heads of width d / h."""
    rows = []
    products = set()
    x = torch.randn(1, n, d)
    for heads in (1, 2, 4, 8):
        attention = MultiHeadAttention(d, heads, d // heads, d // heads).eval()
        with torch.no_grad(), OperationCounter() as counter:
            attention(x, x)
        products.add(counter.operations)
        rows.append((heads, d // heads, counter.operations, counter.functions))
    table = Table(
        f"Attention of {n} positions with heads of d_model / h, d_model = {d}",
        ("heads", "d_k", "multiplications", "exponentials"),
        tuple(rows),
        "Each head has a softmax of its own: exponentials grow with h, products do not.",
    )
    claim = Claim(
        "h heads cost what one head of full dimensionality costs.",
        "similar",
        f"{'equal' if len(products) == 1 else 'different'} multiplications",
        shown(len(products) == 1),
        "counted while the layer ran",
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
