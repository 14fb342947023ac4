"""Section 3.5: what sinusoids let a model do, and whether it does it.

Shapes: T positions, D d_model.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor

from headway.evaluation import pick_measures
from headway.model import sinusoids
from headway.paper.charts import curves
from headway.paper.results import Cell, Claim, Figure, Result, Table, say, verdict, verdict_equal
from headway.paper.running.bitext import Pairs
from headway.paper.running.scoring import predict
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work

TITLE = "Sinusoidal and learned positions, near and far"
SECTION = "3.5"
ALIKE = 1.0  # BLEU
ALL_KINDS = ("sinusoidal", "learned", "none")


def run(work: Work) -> Result:
    """Do all of it."""
    d, length = work.pick(toy=(16, 64), minutes=(512, 2048))
    shifts, linear = _linear(d, length)
    waves, geometric, figure = _wavelengths(d)
    tables, claims = [shifts, waves], [linear, *geometric]
    if work.scale == "paper":
        tables.append(work.write_settings(_jobs(work, ALL_KINDS)))
    else:
        work.say("positions: learned against sinusoidal, and longer sentences than any in training")
        for table, claim in (_kinds(work), _extrapolation(work)):
            tables.append(table)
            claims.append(claim)
    return Result(
        "positions",
        TITLE,
        SECTION,
        tuple(tables),
        (figure,),
        tuple(claims),
        "The last wavelength is 10000^(1 - 2/d_model) · 2π, a little less than 10000 · 2π: the"
        " exponent of the formula does not reach 1.",
        settings={"d_model": d, "positions": length},
    )


def shift_matrix(d_model: int, k: int) -> Tensor:
    """Return M with PE(pos + k) = M PE(pos) for every pos: a rotation of each pair, [D, D]."""
    rates = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    blocks = [
        torch.tensor([[math.cos(k * w), math.sin(k * w)], [-math.sin(k * w), math.cos(k * w)]])
        for w in rates.tolist()
    ]
    return torch.block_diag(*blocks).double()


def fitted_shift(table_TD: Tensor, k: int, pairs: int) -> tuple[Tensor, float]:
    """Fit the map of each sine and cosine from some positions, and try it on all others.

    Returns:
        The map, [D / 2, 2, 2], and its largest error on positions that took no part in the fit.
    """
    table_TP2 = table_TD.double().unflatten(1, (-1, 2)).transpose(0, 1)  # pairs first
    before, after = table_TP2[:, :-k], table_TP2[:, k:]
    map_P22 = torch.linalg.lstsq(before[:, :pairs], after[:, :pairs]).solution
    error = (before[:, pairs:] @ map_P22 - after[:, pairs:]).abs().max()
    return map_P22.transpose(1, 2), float(error)


def _linear(d: int, length: int) -> tuple[Table, Claim]:
    table_TD = sinusoids(length, d)
    rows, worst = [], 0.0
    for k in (1, 7, length // 2):
        moved = table_TD[:-k].double() @ shift_matrix(d, k).T
        error = float((moved - table_TD[k:]).abs().max())
        rows.append((k, error))
        worst = max(worst, error)
    # The table holds float32 numbers up to 1: each is off by up to 2^-25, rotated and not.
    allowed = (1 + math.sqrt(2)) * 2**-24
    claim = Claim(
        "For any fixed k, PE(pos + k) is a linear function of PE(pos).",
        "exact",
        f"largest error {worst:.1e}; rounding of the table allows {allowed:.1e}",
        "shown" if worst <= allowed else "does not",
        "one rotation of each sine and cosine serves all positions",
        SECTION,
    )
    note = f"The table of the model, {length} positions, d_model {d}, float32."
    return Table("Largest error of PE(pos + k) = M_k PE(pos)", ("k", "error"), tuple(rows),
                 note), claim  # fmt: skip


def wavelengths(d_model: int) -> list[float]:
    """Read the wavelength of each sine and cosine off the model's own table, in positions."""
    # The angle that a pair turns by is told most exactly by the longest way of half a turn.
    length = 30_000
    table_PT2 = sinusoids(length, d_model).double().unflatten(1, (-1, 2)).transpose(0, 1)
    found = []
    for pair in table_PT2:
        angle = torch.atan2(pair[:, 0], pair[:, 1])
        turns = torch.diff(angle)
        steps = torch.where(turns < -math.pi, turns + 2 * math.pi, turns)
        found.append(2 * math.pi / float(steps.mean()))
    return found


def _wavelengths(d: int) -> tuple[Table, list[Claim], Figure]:
    found = wavelengths(d)
    ratios = [b / a for a, b in pairwise(found)]
    expected = 10000 ** (2 / d)
    geometric = max(abs(r / expected - 1) for r in ratios)
    gaps = [b - a for a, b in pairwise(found)]
    last = 10000 ** (1 - 2 / d) * 2 * math.pi
    rows: list[tuple[Cell, ...]] = [
        ("first", found[0], 2 * math.pi),
        ("last", found[-1], last),
        ("10000 · 2π", None, 20000 * math.pi),
        ("smallest ratio of neighbours", min(ratios), expected),
        ("largest ratio of neighbours", max(ratios), expected),
        ("largest over smallest gap between neighbours", max(gaps) / min(gaps), None),
    ]
    claims = [
        Claim(
            "The wavelengths form a geometric progression from 2π to 10000 · 2π.",
            "2π to 10000 · 2π",
            f"{found[0]:.4f} to {found[-1]:,.0f}, ratio {expected:.5f} within {geometric:.0e}",
            "shown" if geometric < 1e-3 else "does not",
            "read off the table; evenly spaced they are not:"
            f" gaps differ {max(gaps) / min(gaps):,.0f} times",
            SECTION,
        ),
    ]
    figure = curves(
        f"Wavelengths of d_model = {d}: a straight line of logarithms",
        {"wavelength": [(float(i), w) for i, w in enumerate(found)]},
        "i, of PE(pos, 2i)",
        "positions",
        log_y=True,
    )
    return (
        Table("Wavelengths, in positions", ("what", "read off the table", "formula"), tuple(rows)),
        claims,
        figure,
    )


def _jobs(work: Work, kinds: Sequence[str]) -> list[Job]:
    return [
        Job(kind, replace(work.base, model=replace(work.base.model, positions=kind)))  # type: ignore[arg-type]
        for kind in kinds
    ]


def _kinds(work: Work) -> tuple[Table, Claim]:
    groups, seeds = work.by_seed(_jobs(work, ALL_KINDS)), len(work.seeds)
    rows = tuple(
        (kind, say([t.bleu for t in group]), say([t.perplexity for t in group]))
        for kind, group in groups.items()
    )
    gaps = [a.bleu - b.bleu for a, b in zip(groups["learned"], groups["sinusoidal"], strict=True)]
    claim = Claim(
        "Learned positions give nearly identical results to sinusoids.",
        "25.7 and 25.8 BLEU, 4.92 and 4.92 perplexity",
        f"learned less sinusoidal: {say(gaps, sign=True)} BLEU",
        work.sober(verdict_equal(gaps, ALIKE), groups["sinusoidal"]),
        f"paired by seed; identical enough: the interval within {ALIKE} BLEU",
        "3.5, Table 3 row E",
    )
    note = f"{seeds} seeds, means with 95 % intervals by Student's t."
    return Table("Positions", ("kind", "BLEU", "perplexity"), rows, note), claim


def bucketed(pairs: Pairs, edges: Sequence[int]) -> list[Pairs]:
    """Split pairs by the characters of their source: up to the first edge, to the next, and more."""
    ends = [*edges, math.inf]
    starts = [0, *edges]
    return [
        tuple(p for p in pairs if low < len(p[0]) <= high)
        for low, high in zip(starts, ends, strict=True)
    ]


def _scores(trial: Trial, buckets: Sequence[Pairs], language: str) -> list[tuple[float, float]]:
    """Return (BLEU, perplexity) of each bucket that has pairs."""
    translator = trial.translator()
    [bleu] = pick_measures(["bleu"])
    found = []
    for pairs in buckets:
        translations = translator.translate([source for source, _ in pairs])
        total = bleu.segments(translations, [target for _, target in pairs], language).total()
        found.append((total, predict(translator.model, translator.tokenizer, pairs)[0]))
    return found


def _extrapolation(work: Work) -> tuple[Table, Claim]:
    """Train on short sentences alone, and translate short, longer and much longer ones."""
    most, seeds = work.pick(toy=30, minutes=30, hours=60), len(work.seeds)
    short = work.corpus.only(f"at most {most} characters", lambda a, b: max(len(a), len(b)) <= most)
    jobs = _jobs(work, ALL_KINDS[:2])
    groups = work.by_seed([replace(job, corpus=short) for job in jobs])
    buckets = [b for b in bucketed(work.corpus.test, (most, most + most // 2)) if b]
    names = [f"{min(map(_size, b))} to {max(map(_size, b))}" for b in buckets]
    language = work.corpus.languages[1]
    scores = {
        kind: [_scores(trial, buckets, language) for trial in group]
        for kind, group in groups.items()
    }
    rows = tuple(
        (kind, name, len(bucket), say([s[i][0] for s in found]), say([s[i][1] for s in found]))
        for kind, found in scores.items()
        for i, (name, bucket) in enumerate(zip(names, buckets, strict=True))
    )
    gaps = [
        math.log(b[-1][1] / a[-1][1])
        for a, b in zip(scores["sinusoidal"], scores["learned"], strict=True)
    ]
    # They can only be asked for more where they do well as far as they were trained.
    near = [
        replace(trial, bleu=found[0][0])
        for trial, found in zip(groups["sinusoidal"], scores["sinusoidal"], strict=True)
    ]
    claim = Claim(
        "Sinusoids may allow a model to extrapolate to sequences longer than those of training.",
        "a hypothesis",
        f"on sources of {names[-1]} characters, learned less sinusoidal: {say(gaps, sign=True)} nats",
        work.sober(verdict(gaps, 1), near),
        f"trained on pairs of at most {most} characters a side; paired by seed",
        SECTION,
    )
    table = Table(
        f"Trained on pairs of at most {most} characters a side",
        ("positions", "characters of the source", "pairs", "BLEU", "perplexity"),
        rows,
        f"{seeds} seeds, means with 95 % intervals by Student's t.",
    )
    return table, claim


def _size(pair: tuple[str, str]) -> int:
    return len(pair[0])
