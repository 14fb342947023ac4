"""Claims on trainings, and what decides them: differences paired by seed, and a gate for models that have learned too little."""

from collections.abc import Mapping, Sequence
from typing import Literal

from headway.ext.paper.results import Claim
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.verdicts import (
    Gate,
    LearnedScores,
    Verdict,
    interval_text,
    p_value,
    percent_text,
    verdict,
    verdict_equal,
    verdict_needed,
    verdict_not_worse,
)

Expected = Literal["more", "less", "equal", "not less"]
JUDGED_BY_THEMSELVES = ("right", "f1")  # scores whose own size says whether a model has learned


def compare(
    text: str,
    groups: Mapping[str, TrialGroup],
    name: str,
    other: str,
    gate: Gate,
    *,
    paper: str = "",
    score: str = "bleu",
    unit: str = "BLEU",
    factor: float = 1.0,
    expected: Expected = "more",
    margin: float = 0.0,
    spread: float = 0.0,
    digits: int = 2,
    note: str = "",
    section: str = "",
) -> Claim:
    """Return the claim that the models of a training score more, or less, than those of another one.

    Args:
        text: What the paper says.
        groups: Trainings by their names.
        name: The training whose scores count.
        other: The one whose scores, seed by seed, are taken off.
        gate: What the models of both must have learned.
        paper: The paper's number.
        score: The name of a score, or "nats" for the logarithm of the perplexity.
        unit: Of the differences.
        factor: By which differences are multiplied: 100 for shares in percent.
        expected: The paper's side of zero.
        margin: Of "equal" and "not less".
        spread: See `headway.ext.paper.verdicts.t_interval`.
        digits: Of the differences.
        note: What a reader must know of the verdict.
        section: Of the paper; if it is empty, the experiment's.
    """
    ours, theirs = groups[name], groups[other]
    gaps = ours.nats_less(theirs) if score == "nats" else ours.less(theirs, score)
    judged = score if score in JUDGED_BY_THEMSELVES else "bleu"
    return trend_claim(
        text, paper, f"{name} less {other}: {{}} {unit}", [factor * gap for gap in gaps],
        learned=LearnedScores(gate, (ours.values(judged), theirs.values(judged))),
        optimizer=ours.optimizer, expected=expected, margin=margin, spread=spread, digits=digits,
        why="paired by seed" + (f"; {note}" if note else ""), section=section,
    )  # fmt: skip


def trend_claim(
    text: str,
    paper: str,
    measured: str,
    differences: Sequence[float],
    *,
    learned: LearnedScores | None,
    optimizer: str = "",
    expected: Expected = "more",
    margin: float = 0.0,
    spread: float = 0.0,
    digits: int = 2,
    why: str = "paired by seed",
    section: str = "",
) -> Claim:
    """Return a claim on differences, with its verdict.

    Args:
        text: What the paper says.
        paper: The paper's number.
        measured: What was measured, such as ``A less B: {} BLEU``, with the names of what is compared; mean and
            interval of the differences take the place of ``{}``.
        differences: One for each seed.
        learned: What the models must have learned; None: nothing, as they are not trained translators.
        optimizer: Of the models that are compared.
        expected: As in `compare`.
        margin: Likewise.
        spread: Likewise.
        digits: Likewise.
        why: What the verdict rests on.
        section: As in `compare`.
    """
    found = judge(differences, expected, margin, spread)
    if learned:
        found, note = learned.judge(found)
        why = f"{why}; {note}"
    has_side = expected in ("more", "less") and len(differences) > 1
    return Claim(
        text,
        paper,
        measured.format(interval_text(differences, digits, sign=True, spread=spread)),
        found,
        why,
        section,
        p_value(differences, spread) if has_side else None,
        optimizer,
    )


def need_claim(
    text: str,
    having: TrialGroup,
    lacking: TrialGroup,
    gate: Gate,
    *,
    paper: str = "",
    section: str = "",
) -> Claim:
    """Return the claim that translators learn only with a part; see `verdict_needed`."""
    found, note = gate.judge(lambda least: verdict_needed(having.bleu, lacking.bleu, least))
    return Claim(
        text,
        paper,
        f"{percent_text(having.bleu, 1)} BLEU with it, {percent_text(lacking.bleu, 1)} without",
        found,
        f"a model has learned if it passes the {note}",
        section,
        optimizer=having.optimizer,
    )


def judge(
    differences: Sequence[float], expected: Expected, margin: float = 0.0, spread: float = 0.0
) -> Verdict:
    """Return what differences decide by themselves; the arguments are those of `trend_claim`."""
    match expected:
        case "equal":
            return verdict_equal(differences, margin)
        case "not less":
            return verdict_not_worse(differences, margin)
    return verdict(differences, 1 if expected == "more" else -1, spread)
