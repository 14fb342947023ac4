"""Section 3.5: what sinusoids let a model do, and whether it does it.

Shapes: T positions, D d_model, P = D / 2 pairs of sine and cosine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from headway.ext.paper.results import Cell, Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.scoring import SEARCH, Pairs, score_predictions, score_text
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.trial import Trial
from headway.ext.paper.trends import trend_claim
from headway.ext.paper.verdicts import LearnedScores, percent_text, perplexity_text, shown
from headway.model import sinusoids

SINUSOIDAL: Literal["sinusoidal"] = "sinusoidal"
LEARNED: Literal["learned"] = "learned"
KINDS: tuple[Literal["sinusoidal", "learned", "none"], ...] = (SINUSOIDAL, LEARNED, "none")
ON_SHORT = ", on short sentences"  # in the names of trainings
TABLE = (512, 2048)  # width and positions of the table that is measured


def count(work: Study) -> list[Finding]:
    """Check the sinusoids' identities."""
    return [*compare_shifts(*TABLE), *compare_wavelengths(TABLE[0])]


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training with each kind of positions, and two on short sentences alone."""
    kinds = {
        kind: replace(work.base, model=replace(work.base.model, positions=kind)) for kind in KINDS
    }
    planned = [PlannedTrial(kind, config) for kind, config in kinds.items()]
    if work.is_settings_only:
        return planned
    most = longest(work)
    short = work.corpus.only(f"at most {most} characters", lambda a, b: max(len(a), len(b)) <= most)
    return planned + [
        PlannedTrial(kind + ON_SHORT, kinds[kind], short) for kind in (SINUSOIDAL, LEARNED)
    ]


def longest(work: Study) -> int:
    """Return how many characters a side of a short sentence has at most."""
    return work.pick(30, 60)


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the kinds of positions, and how they translate longer sentences than any in training."""
    return [*compare_kinds(work, groups), *compare_lengths(work, groups)]


def shift_matrix(d_model: int, k: int) -> Tensor:
    """Return M with PE(pos + k) = M PE(pos) for every pos: a rotation of each pair, [D, D]."""
    rates = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    cosines, sines = torch.cos(k * rates), torch.sin(k * rates)
    blocks_P22 = torch.stack((cosines, sines, -sines, cosines), -1).unflatten(-1, (2, 2))
    return torch.block_diag(*blocks_P22)


def compare_shifts(d: int, length: int) -> tuple[Table, Claim]:
    """Compare shifted positions of the model's table with rotated ones."""
    table_TD = sinusoids(length, d)
    errors = {}
    for k in (1, 7, length // 2):
        moved = table_TD[:-k].double() @ shift_matrix(d, k).T
        errors[k] = float((moved - table_TD[k:]).abs().max())
    worst = max(errors.values())
    # The table holds float32 numbers up to 1: each is off by up to 2^-25, before and after rotation.
    allowed = (1 + math.sqrt(2)) * 2**-25
    claim = Claim(
        "For any fixed k, PE(pos + k) is a linear function of PE(pos).",
        "exact",
        f"largest error {worst:.1e}; rounding of the table allows {allowed:.1e}",
        shown(worst <= allowed),
        "one rotation of each sine and cosine serves all positions",
    )
    table = Table(
        "Largest error of PE(pos + k) = M_k PE(pos)",
        ("k", "error"),
        tuple(errors.items()),
        f"The table of the model, {length} positions, d_model {d}, float32.",
    )
    return table, claim


def measure_wavelengths(d_model: int) -> list[float]:
    """Measure the wavelength of each sine and cosine in the model's own table, in positions."""
    length = 30_000  # a long table gives the mean angle between neighbors exactly
    table_PT2 = sinusoids(length, d_model).double().unflatten(1, (-1, 2)).transpose(0, 1)
    found = []
    for pair in table_PT2:
        angle = torch.atan2(pair[:, 0], pair[:, 1])
        turns = torch.diff(angle)
        steps = torch.where(turns < -math.pi, turns + 2 * math.pi, turns)
        found.append(2 * math.pi / float(steps.mean()))
    return found


def compare_wavelengths(d: int) -> tuple[Table, Claim]:
    """Compare the wavelengths of the table with the paper's geometric progression."""
    found = measure_wavelengths(d)
    ratios = [b / a for a, b in pairwise(found)]
    gaps = [b - a for a, b in pairwise(found)]
    ratio = 10000 ** (2 / d)
    error = max(abs(r / ratio - 1) for r in ratios)
    gap_ratio = max(gaps) / min(gaps)
    rows: list[tuple[Cell, ...]] = [
        ("first", found[0], 2 * math.pi),
        ("last", found[-1], 10000 ** (1 - 2 / d) * 2 * math.pi),
        ("10000 · 2π", None, 20000 * math.pi),
        ("smallest ratio of neighbors", min(ratios), ratio),
        ("largest ratio of neighbors", max(ratios), ratio),
        ("largest over smallest gap between neighbors", gap_ratio, None),
    ]
    claim = Claim(
        "The wavelengths form a geometric progression from 2π to 10000 · 2π.",
        "2π to 10000 · 2π",
        f"{found[0]:.4f} to {found[-1]:,.0f}, ratio {ratio:.5f} within {error:.0e}",
        shown(error < 1e-3),
        f"measured in the table; they are not evenly spaced: gaps differ {gap_ratio:,.0f} times",
    )
    table = Table("Wavelengths, in positions", ("what", "in the table", "formula"), tuple(rows))
    return table, claim


def compare_kinds(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare translators with sinusoidal, learned and no positions."""
    kinds: dict[str, TrialGroup] = {kind: groups[kind] for kind in KINDS}
    return [score_table("Positions", "kind", ("BLEU", "perplexity"), kinds, work.seeds_note)]


def split_by_length(pairs: Pairs, edges: Sequence[int]) -> list[Pairs]:
    """Split pairs by the characters of their source: up to the first edge, to the next, and more."""
    return [
        tuple(pair for pair in pairs if low < len(pair[0]) <= high)
        for low, high in pairwise((0, *edges, math.inf))
    ]


def score_buckets(
    trial: Trial, buckets: Sequence[Pairs], language: str
) -> list[tuple[float, float]]:
    """Return BLEU and perplexity of each bucket of pairs; of an empty one, no numbers."""
    translator = trial.translator()
    found = []
    for pairs in buckets:
        if not pairs:
            found.append((math.nan, math.nan))
            continue
        translations = translator.translate([source for source, _ in pairs], SEARCH)
        predictions = score_predictions(translator.model, translator.tokenizer, pairs)
        found.append((score_text(translations, pairs, language), predictions["perplexity"]))
    return found


def compare_lengths(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Translate short, longer and much longer sentences with models that were trained on short ones alone."""
    most = longest(work)
    buckets = split_by_length(work.corpus.test, (most, most + most // 2))
    language = work.corpus.languages[1]
    scores: dict[str, list[list[tuple[float, float]]]] = {
        kind: [score_buckets(trial, buckets, language) for trial in groups[kind + ON_SHORT].trials]
        for kind in (SINUSOIDAL, LEARNED)
    }
    rows = tuple(
        (
            kind,
            describe_lengths(bucket),
            len(bucket),
            percent_text([found[i][0] for found in by_seed]),
            perplexity_text([found[i][1] for found in by_seed]),
        )
        for kind, by_seed in scores.items()
        for i, bucket in enumerate(buckets)
        if bucket
    )
    table = Table(
        f"Trained on pairs of at most {most} characters a side",
        ("positions", "characters of the source", "pairs", "BLEU", "perplexity"),
        rows,
        work.seeds_note,
    )
    return [table, judge_lengths(work, most, buckets, scores)]


def describe_lengths(pairs: Pairs) -> str:
    """Return the smallest and the largest number of characters of the sources."""
    lengths = [len(source) for source, _ in pairs]
    return f"{min(lengths)} to {max(lengths)}"


def judge_lengths(
    work: Study,
    most: int,
    buckets: Sequence[Pairs],
    scores: Mapping[str, Sequence[Sequence[tuple[float, float]]]],
) -> Claim:
    """Return the claim on sentences of the next lengths after those of training: neither kind translates much longer ones.

    Args:
        work: Has the gate.
        most: Characters of a side in training.
        buckets: Pairs of the lengths of training, of the next lengths, and longer ones.
        scores: Kind of positions -> what `score_buckets` returned for each seed.
    """
    text = "Sinusoids may allow a model to extrapolate to sequences longer than those of training."
    why = f"trained on pairs of at most {most} characters a side; paired by seed; both must translate these sentences"
    near, beyond = buckets[:2]
    if not near or not beyond:
        missing = "no longer sentences" if near else "no sentences as long as those of training"
        return Claim(text, "a hypothesis", missing, "not decided", why)
    gaps = [
        math.log(learned[1][1] / sinusoidal[1][1])
        for sinusoidal, learned in zip(scores["sinusoidal"], scores["learned"], strict=True)
    ]
    # A model that translates short sentences alone shows nothing on longer ones.
    bleu = tuple([found[1][0] for found in by_seed] for by_seed in scores.values())
    return trend_claim(
        text,
        "a hypothesis",
        f"on sources of {describe_lengths(beyond)} characters, learned less sinusoidal: {{}} nats",
        gaps,
        learned=LearnedScores(work.gate, bleu),
        optimizer=work.base.training.optimizer.capitalize(),
        why=why,
    )
