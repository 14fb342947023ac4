"""What the paper argues in passing, each counted, timed or tried (sections 2, 3.1, 3.2, 3.4 and 4)."""

import torch

from headway.model import FeedForward, MultiHeadAttention
from headway.paper.experiments import arguments_embeddings as sizes
from headway.paper.experiments import arguments_heads as resolution
from headway.paper.experiments.arguments_mask import without_mask
from headway.paper.measuring.costs import count, seconds
from headway.paper.measuring.fitting import exponents, fit_sum
from headway.paper.measuring.layer_types import BY_NAME
from headway.paper.measuring.ledger import Ledger
from headway.paper.measuring.paths import layers_by_formula, layers_needed
from headway.paper.results import Cell, Claim, Result, Table
from headway.paper.running.work import Work

TITLE = "Arguments in passing: heads, masks, costs and sizes"
SECTION = "2, 3.1, 3.2, 3.4 and 4"


def run(work: Work) -> Result:
    """Do all of them."""
    work.say("arguments: counts and times")
    parts = [
        heads_cost(work.pick(toy=32, minutes=512), work.pick(toy=10, minutes=64)),
        separable_cost(work.pick(toy=(8, 16), minutes=(16, 32, 64, 128))),
        convolution_cost(work.pick(toy=16, minutes=64)),
        window_path(work.pick(toy=17, minutes=65)),
    ]
    work.say("arguments: one head and many")
    parts.append(resolution.two_targets(work))
    tables, claims = [table for table, _ in parts], [claim for _, claim in parts]
    if work.scale == "paper":
        # A decoder without its mask is no setting: nobody should train one.
        tables.append(work.write_settings([*resolution.jobs(work), *sizes.jobs(work)]))
    else:
        work.say("arguments: trained translators, with one head, without mask, without the factor")
        for table, *found in (
            resolution.translators(work), without_mask(work), sizes.embedding_sizes(work),
        ):  # fmt: skip
            tables.append(table)
            claims += found
    return Result(
        "arguments",
        TITLE,
        SECTION,
        tuple(tables),
        (),
        tuple(claims),
        "Constants are this package's: an LSTM has four gates, a feed-forward is four times as wide"
        " inside, and restricted attention is centred.",
    )


def heads_cost(d: int, n: int) -> tuple[Table, Claim]:
    """Count and time attention with one head of full width, and with h of d / h."""
    rows = []
    products = set()
    x = torch.randn(1, n, d)
    for heads in (1, 2, 4, 8):
        attention = MultiHeadAttention(d, heads, d // heads, d // heads).eval()
        with torch.no_grad(), Ledger() as ledger:
            attention(x, x)
        products.add(ledger.operations)
        spent = seconds(lambda layer=attention: layer(x, x), repeats=3)  # type: ignore[misc]
        rows.append((heads, d // heads, ledger.operations, ledger.functions, 1e3 * spent))
    table = Table(
        f"Attention of {n} positions with heads of d_model / h, d_model = {d}",
        ("heads", "d_k", "multiplications", "exponentials", "ms"),
        tuple(rows),
        "Each head has a softmax of its own: exponentials grow with h, products do not.",
    )
    claim = Claim(
        "h heads cost what one head of full dimensionality costs.",
        "similar",
        f"equal multiplications; 8 heads take {rows[-1][-1] / rows[0][-1]:.2f} times the time of one",
        "shown" if len(products) == 1 else "does not",
        "counted while it ran; processor time on one thread",
        "3.2.2",
    )
    return table, claim


def separable_cost(lengths: tuple[int, ...]) -> tuple[Table, Claim]:
    """Count a separable convolution as wide as its sentence, and attention with a feed-forward."""
    # A centred kernel is odd: n is too.
    places = [(n + 1, d) for n in lengths for d in lengths]
    terms = [[float(n * n * d) for n, d in places], [float(n * d * d) for n, d in places]]
    wide = [count(BY_NAME["separable"], n, d, k=n).mixing for n, d in places]
    both = []
    for n, d in places:
        cost = count(BY_NAME["self-attention"], n, d)
        with torch.no_grad(), Ledger() as ledger:
            FeedForward(d, 4 * d)(torch.randn(1, n, d))
        both.append(cost.mixing + cost.projections + ledger.operations)
    first, second = fit_sum(wide, terms), fit_sum(both, terms)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *found.coefficients, found.error)
        for name, found in (("separable, k = n", first), ("attention + feed-forward", second))
    )
    good = max(first.error, second.error) < 0.1
    ratio = both[-1] / wide[-1]
    claim = Claim(
        "With k = n, a separable convolution costs what self-attention and a feed-forward cost.",
        "O(n²·d + n·d²), both",
        f"the same two terms; at n = {places[-1][0]}, d = {places[-1][1]} attention and feed-forward"
        f" need {ratio:.1f} times as many multiplications",
        "holds" if good else "does not",
        "as orders of growth; constants differ, as the table has them",
        "4",
    )
    table = Table(
        "Multiplications fitted as a·n²·d + b·n·d²", ("what", "a", "b", "largest error"), rows
    )
    return table, claim


def convolution_cost(d: int) -> tuple[Table, Claim]:
    """Count convolutions of several kernels against a recurrent layer of the same width."""
    n, kernels = 32, (3, 5, 7, 9)
    cost = count(BY_NAME["recurrent"], n, d)
    lstm = cost.mixing + cost.projections
    plain = n * d * d  # one map of the state at each position, as Table 1 has it
    counts = [count(BY_NAME["convolution"], n, d, k=k).mixing for k in kernels]
    rows = tuple((k, c, c / plain, c / lstm) for k, c in zip(kernels, counts, strict=True))
    slope = exponents(counts, {"k": kernels})["k"]
    claim = Claim(
        "A convolution costs k times what a recurrent layer costs.",
        "k",
        f"k^{slope:.3f}; k times a recurrence of one map; an LSTM of the same width costs as much as"
        f" k = {lstm / plain:.2f}",
        "holds" if abs(slope - 1) < 0.01 else "does not",
        "as orders of growth",
        "4",
    )
    table = Table(
        f"Multiplications of a convolution, {n} positions of width {d}",
        ("k", "multiplications", "over n·d²", "over this package's LSTM layer"),
        rows,
        "The LSTM counts its four gates and the maps of its input.",
    )
    return table, claim


def window_path(n: int) -> tuple[Table, Claim]:
    """Find how many layers of restricted attention it takes to bring the ends together."""
    rows, same = [], True
    windows = [r for r in (3, 5, 9, 17, 33) if r <= n]
    for r in windows:
        for causal in (False, True):
            found = layers_needed(BY_NAME["restricted"], n, r=r, causal=causal)
            formula = layers_by_formula(BY_NAME["restricted"], n, r=r, causal=causal)
            same &= found == formula
            rows.append((r, "causal" if causal else "centred", found, formula, n / r))
    table = Table(
        f"Layers until the ends of {n} positions meet, restricted to r",
        ("r", "which", "found", "formula", "n/r"),
        tuple(rows),
        "Centred: ceil((n-1) / ((r-1)/2)), half of the window to either side; causal:"
        " ceil((n-1) / (r-1)).",
    )
    claim = Claim(
        "Restricting attention to r neighbours makes the longest path O(n/r).",
        "n/r",
        "equal to the formula for every r" if same else "differs from the formula",
        "shown" if same else "does not",
        "by gradients; centred it is 2n/r",
        "4",
    )
    return table, claim
