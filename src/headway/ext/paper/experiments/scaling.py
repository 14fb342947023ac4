"""Section 3.2.1: why dot products are divided by sqrt(d_k), and what additive attention costs.

Shapes: B batch, H heads, T queries, S keys, K d_k.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from headway.ext.paper.charts import curves
from headway.ext.paper.measuring.costs import processor_seconds, saved_bytes
from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import holds
from headway.model import Additive, DotProduct, score_scale

KEYS = 32
LEAST_BATCH = 200  # tokens: room for each sentence
MEASURED = (1, 4, 16, 64, 256, 1024)  # d_k of random queries and keys
QUERIES = 2000
TIMED, POSITIONS = (16, 64, 256), 128  # d_k and length of the attention that is timed
TRAINED = (8, 64)  # d_k of translators
# Settings of a model that say how a query is compared with a key.
COMPATIBILITIES: dict[str, dict[str, object]] = {
    "dot, scaled": {"compatibility": "dot", "scale_attention": True},
    "dot, not scaled": {"compatibility": "dot", "scale_attention": False},
    "additive": {"compatibility": "additive", "scale_attention": False},
}


@dataclass(frozen=True)
class DotProductSpread:
    """What random queries and keys lead to, if each component has mean 0 and variance 1.

    Attributes:
        mean: Of the compatibilities of all queries and keys.
        variance: The same.
        largest: Mean largest weight of a query.
        gradient: Mean trace of the softmax's Jacobian, 1 - sum of squared weights: 0 if one weight is
            1, 1 - 1/keys if all are equal.
    """

    mean: float
    variance: float
    largest: float
    gradient: float


@torch.no_grad()
def measure_spread(d_k: int, *, scaled: bool, queries: int = 2000) -> DotProductSpread:
    """Measure `DotProductSpread` on the package's own attention."""
    random = torch.Generator().manual_seed(d_k)
    q_BHTK = torch.randn(queries, 1, 1, d_k, generator=random)
    k_BHSK = torch.randn(queries, 1, KEYS, d_k, generator=random)
    attention = DotProduct(scaled=scaled)
    scores = q_BHTK * score_scale(attention, d_k) @ k_BHSK.mT
    weights = attention.weights(q_BHTK, k_BHSK)
    return DotProductSpread(
        float(scores.mean()),
        float(scores.var()),
        float(weights.amax(-1).mean()),
        float(1 - weights.square().sum(-1).mean()),
    )


def count(work: Study) -> list[Finding]:
    """Measure random queries and keys, and time both kinds of attention."""
    return [*compare_spreads(MEASURED, QUERIES), *compare_costs(TIMED, POSITIONS)]


def compare_spreads(widths: Sequence[int], queries: int) -> list[Finding]:
    """Measure random dot products, scaled and not, for several widths."""
    rows, lines, errors = [], {}, []
    for name, scaled in (("not scaled", False), ("scaled", True)):
        found = {d_k: measure_spread(d_k, scaled=scaled, queries=queries) for d_k in widths}
        lines[name] = [(d_k, s.gradient) for d_k, s in found.items()]
        rows += [(name, d_k, s.mean, s.variance, s.largest, s.gradient) for d_k, s in found.items()]
        for d_k, s in found.items():
            expected = 1 if scaled else d_k
            errors += [abs(s.mean) / expected**0.5, abs(s.variance / expected - 1)]
    table = Table(
        f"Random queries against {KEYS} keys, components of mean 0 and variance 1",
        (
            "dot product",
            "d_k",
            "mean of q·k",
            "variance of q·k",
            "largest weight",
            "softmax gradient",
        ),
        tuple(rows),
        "Softmax gradient: trace of its Jacobian, the mean over queries.",
    )
    figure = curves(
        "The softmax's gradient, scaled and not",
        lines,
        "d_k",
        "trace of the Jacobian",
        log_x=True,
        marks=True,
    )
    unscaled_gradient, scaled_gradient = (points[-1][1] for points in lines.values())
    return [
        table,
        figure,
        Claim(
            "q·k of independent components has mean 0 and variance d_k; scaled, variance 1.",
            "d_k",
            f"within {max(errors):.0%} of a standard deviation and of the variance for d_k = {widths[0]} to {widths[-1]}",
            holds(max(errors) < 0.15),
            "an estimate from random draws",
        ),
        Claim(
            "Large dot products push the softmax where its gradients are small (the paper: extremely small).",
            "no number",
            f"at d_k = {widths[-1]} {unscaled_gradient:.3f}, scaled {scaled_gradient:.3f}",
            holds(unscaled_gradient < scaled_gradient / 2),
            "holds if the gradient is less than half of the scaled one",
        ),
    ]


def compare_costs(widths: Sequence[int], n: int) -> tuple[Table, Claim]:
    """Measure time and memory of dot products and of additive attention."""
    rows, ratios = [], []
    for d_k in widths:
        q, k, v = (torch.randn(1, 1, n, d_k, requires_grad=True) for _ in range(3))
        found = []
        for name, core in (("dot product", DotProduct()), ("additive", Additive(1, d_k))):
            attend = partial(_attend, core, q, k, v)
            found.append((processor_seconds(attend, repeats=9), saved_bytes(attend, core)))
            rows.append((name, d_k, 1e3 * found[-1][0], found[-1][1] // 1000))
        (dot_time, dot_memory), (additive_time, additive_memory) = found
        ratios.append((additive_time / dot_time, additive_memory / dot_memory))
    table = Table(
        f"One head, {n} queries and keys",
        ("compatibility", "d_k", "ms", "kB saved for the backward pass"),
        tuple(rows),
        "Forward, one thread, both by operations of torch. Additive attention holds n² · d_k hidden values.",
    )
    time_ratio, memory_ratio = ratios[-1]
    claim = Claim(
        "Dot-product attention is much faster and more space-efficient than additive attention.",
        "much",
        f"at d_k = {widths[-1]}: additive takes {time_ratio:.0f} times the time,"
        f" {memory_ratio:.0f} times the memory",
        holds(min(time_ratio, memory_ratio) > 2),
        "both by operations of torch; holds if both are more than twice as much",
    )
    return table, claim


def _attend(core: Additive | DotProduct, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Weight the values by operations of torch alone."""
    return core.weights(q, k) @ v


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training for each way of comparing and each width, two heads each.

    The optimizer is Adam: Muon gives all updates of a matrix one size, and so changes how large the products become.
    """
    base, widths = work.published_base, (64, 512) if work.is_settings_only else TRAINED
    # Additive attention compares all pairs of a row, so rows hold one sentence each.
    tokens = max(LEAST_BATCH, base.training.batch_tokens // batches_in_step(work))
    training = replace(base.training, packed=False, micro_batch_tokens=tokens)
    return [
        PlannedTrial(
            f"{name}, d_k = {d_k}",
            replace(
                base,
                model=replace(base.model, num_heads=2, d_k=d_k, d_v=8, **settings),  # type: ignore[arg-type]
                training=training,
            ),
        )
        for d_k in widths
        for name, settings in COMPATIBILITIES.items()
    ]


def batches_in_step(work: Study) -> int:
    """Return how many batches, each of like lengths, a step takes.

    In the built-in corpus length depends on the kind of phrase: a step of a single batch, all of one length, would
    learn several times more slowly.
    """
    return work.pick(8, 1)


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare translators that differ in how a query is compared with a key."""
    return [
        score_table(
            "Translators that differ in how a query is compared with a key",
            "compatibility", ("BLEU", "perplexity", "tokens/s"), groups,
            f"Two heads, d_v = 8, batches in a step: {batches_in_step(work)}. {work.seeds_note}",
        )
    ]  # fmt: skip
