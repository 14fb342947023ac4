"""Section 3.2.1: why dot products are divided by sqrt(d_k), and what additive attention costs.

Shapes: H heads, T queries, S keys, K d_k.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch

from headway.model import Additive, DotProduct
from headway.paper.charts import curves
from headway.paper.measuring.costs import kept, seconds
from headway.paper.results import Claim, Figure, Result, Table, say, verdict, verdict_equal
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work

TITLE = "Scaled, unscaled and additive attention as d_k grows"
SECTION = "3.2.1"
KEYS = 32
LONGEST = 200  # tokens of a batch: room for each sentence
ALIKE = 0.05  # nats a token
# Settings of a model that say how a query meets a key.
KINDS: dict[str, dict[str, object]] = {
    "dot, scaled": {"compatibility": "dot", "scale_attention": True},
    "dot, not scaled": {"compatibility": "dot", "scale_attention": False},
    "additive": {"compatibility": "additive", "scale_attention": False},
}


@dataclass(frozen=True)
class Spread:
    """What random queries and keys, each component of mean 0 and variance 1, lead to.

    Attributes:
        variance: Of the compatibilities.
        largest: Mean largest weight of a query.
        gradient: Mean trace of the softmax's Jacobian, 1 - sum of squared weights: 0 when one weight
            has all, 1 - 1/keys when all are equal.
    """

    variance: float
    largest: float
    gradient: float


@torch.no_grad()
def spread(d_k: int, *, scaled: bool, queries: int = 2000, keys: int = KEYS) -> Spread:
    """Measure `Spread` on the package's own attention."""
    random = torch.Generator().manual_seed(d_k)
    q_BHTK = torch.randn(queries, 1, 1, d_k, generator=random)
    k_BHSK = torch.randn(queries, 1, keys, d_k, generator=random)
    weights = DotProduct(scaled=scaled).weights(q_BHTK, k_BHSK)
    # The softmax forgets what is common to a query's compatibilities; variance about their mean is
    # that of independent ones all the same.
    log_p = torch.log_softmax((q_BHTK * (d_k**-0.5 if scaled else 1.0)) @ k_BHSK.mT, -1)
    return Spread(
        float(log_p.var(-1).mean()),
        float(weights.amax(-1).mean()),
        float(1 - weights.square().sum(-1).mean()),
    )


def run(work: Work) -> Result:
    """Do all of it."""
    widths = work.pick(toy=(1, 16, 64), minutes=(1, 4, 16, 64, 256, 1024))
    table, figure, claims = _spreads(widths, work.pick(toy=500, minutes=2000))
    work.say("scaling: time and memory of dot products and additive attention")
    costs, cost_claim = _costs(work.pick(toy=(4, 16), minutes=(16, 64, 256)),
                               work.pick(toy=16, minutes=128))  # fmt: skip
    quality_claims: list[Claim] = []
    if work.scale == "paper":
        quality = work.write_settings(_jobs(work, (64, 512)))
    else:
        work.say("scaling: translators")
        quality, quality_claims = _translators(work, work.pick(toy=(4,), minutes=(8, 64)))
    return Result(
        "scaling",
        TITLE,
        SECTION,
        (table, costs, quality),
        (figure,),
        (*claims, cost_claim, *quality_claims),
        "The paper cites others for additive attention; here all are trained alike. Batches hold"
        " sentences of like lengths, as additive attention compares all pairs of a packed row, and a"
        " step takes several of them.",
        settings={"d_k": list(widths)},
    )


def _spreads(widths: Sequence[int], queries: int) -> tuple[Table, Figure, list[Claim]]:
    rows, lines, errors = [], {}, []
    for scaled in (False, True):
        found = [spread(d_k, scaled=scaled, queries=queries) for d_k in widths]
        name = "scaled" if scaled else "not scaled"
        lines[name] = [(d, s.gradient) for d, s in zip(widths, found, strict=True)]
        rows += [
            (name, d, s.variance, s.largest, s.gradient) for d, s in zip(widths, found, strict=True)
        ]
        errors += [
            abs(s.variance / (1 if scaled else d) - 1) for d, s in zip(widths, found, strict=True)
        ]
    table = Table(
        f"Random queries against {KEYS} keys, components of mean 0 and variance 1",
        ("dot product", "d_k", "variance of q·k", "largest weight", "softmax gradient"),
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
    unscaled, scaled_ = (lines[name][-1][1] for name in ("not scaled", "scaled"))
    claims = [
        Claim(
            "q·k of independent components has mean 0 and variance d_k; scaled, variance 1.",
            "d_k",
            f"within {max(errors):.0%} for d_k = {widths[0]} to {widths[-1]}",
            "holds" if max(errors) < 0.15 else "does not",
            "an estimate from random draws",
            SECTION,
        ),
        Claim(
            "Large dot products push the softmax where its gradients are extremely small.",
            "said, not measured",
            f"at d_k = {widths[-1]} {unscaled:.3f}, scaled {scaled_:.3f}",
            "holds" if unscaled < scaled_ / 2 else "does not",
            "less than half counts as so",
            SECTION,
        ),
    ]
    return table, figure, claims


def _costs(widths: Sequence[int], n: int) -> tuple[Table, Claim]:
    rows, ratios = [], []
    for d_k in widths:
        found = []
        for name, core in (("dot", DotProduct()), ("additive", Additive(1, d_k))):
            q, k, v = (torch.randn(1, 1, n, d_k, requires_grad=True) for _ in range(3))
            forward = partial(core, q, k, v)
            found.append((seconds(forward, repeats=3), kept(forward, core)))
            rows.append((name, d_k, 1e3 * found[-1][0], found[-1][1] // 1000))
        ratios.append((found[1][0] / found[0][0], found[1][1] / found[0][1]))
    table = Table(
        f"One head, {n} queries and keys",
        ("compatibility", "d_k", "ms", "kB kept for the backward pass"),
        tuple(rows),
        "Forward, one thread. Additive attention holds n² · d_k hidden values.",
    )
    slower, larger = ratios[-1]
    claim = Claim(
        "Dot-product attention is much faster and more space-efficient than additive attention.",
        "much",
        f"at d_k = {widths[-1]}: additive takes {slower:.0f} times the time, {larger:.0f} times the"
        " memory",
        "holds" if min(slower, larger) > 2 else "does not",
        "more than twice counts as so",
        SECTION,
    )
    return table, claim


def _jobs(work: Work, widths: Sequence[int]) -> list[Job]:
    """Return a training for each way of comparing and each width, two heads each."""
    base = work.base
    # Additive attention compares all pairs of a row, so rows hold one sentence each. A step of one
    # batch, all of one length, would learn several times slower from the built-in corpus.
    few = max(LONGEST, base.training.batch_tokens // 8)
    training = replace(base.training, packed=False, micro_batch_tokens=few)
    return [
        Job(
            _name(kind, d_k),
            replace(
                base,
                model=replace(base.model, num_heads=2, d_k=d_k, d_v=8, **settings),  # type: ignore[arg-type]
                training=training,
            ),
        )
        for d_k in widths
        for kind, settings in KINDS.items()
    ]


def _name(kind: str, d_k: int) -> str:
    return f"{kind}, d_k = {d_k}"


def _translators(work: Work, widths: Sequence[int]) -> tuple[Table, list[Claim]]:
    """Compare translators that differ in how a query meets a key."""
    groups = work.by_seed(_jobs(work, widths))
    rows = tuple(
        (name, say([t.bleu for t in group]), say([t.perplexity for t in group]),
         round(sum(t.tokens_per_second for t in group) / len(group)))
        for name, group in groups.items()
    )  # fmt: skip
    table = Table(
        "Translators that differ in how a query meets a key",
        ("compatibility", "BLEU", "perplexity", "tokens/s"),
        rows,
        f"Two heads, d_v = 8, {len(work.seeds)} seeds, means with 95 % intervals by Student's t.",
    )
    small, large = widths[0], widths[-1]
    unscaled = "dot, not scaled"
    few = _gaps(groups[_name("additive", small)], groups[_name(unscaled, small)])
    claims = [
        Claim(
            "For small d_k, additive and dot-product attention perform similarly.",
            "said, not measured",
            f"d_k = {small}, additive less unscaled: {say(few, sign=True)} nats a token",
            work.sober(verdict_equal(few, ALIKE), groups[_name("dot, scaled", small)]),
            f"paired by seed; similar: the interval within {ALIKE}",
            SECTION,
        )
    ]
    for name, text in (
        ("additive", "For larger d_k, additive attention outperforms unscaled dot products."),
        ("dot, scaled", "For larger d_k, scaled dot products outperform unscaled ones."),
    ):
        gaps = _gaps(groups[_name(name, large)], groups[_name(unscaled, large)])
        decided = work.sober(verdict(gaps, 1), groups[_name("dot, scaled", large)])
        ours = f"d_k = {large}: {say(gaps, sign=True)} nats a token"
        claims.append(Claim(text, "said, not measured", ours, decided, "paired by seed", SECTION))
    return table, claims


def _gaps(group: Sequence[Trial], base: Sequence[Trial]) -> list[float]:
    """Return by how much each is better than the base with its seed, in nats a token."""
    return [math.log(b.perplexity / a.perplexity) for a, b in zip(group, base, strict=True)]
