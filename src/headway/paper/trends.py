"""Claims on trends: differences between trainings, one for each seed, and what they decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headway.paper.results import Claim
from headway.paper.verdicts import (
    Verdict,
    if_learned,
    interval_text,
    p_value,
    verdict,
    verdict_equal,
    verdict_not_worse,
)

Expected = Literal["more", "less", "equal", "not less"]


@dataclass(frozen=True)
class Learned:
    """Scores of the models that a trend compares, and what each group must reach for a verdict.

    Attributes:
        least: The least mean.
        scores: Of each group.
    """

    least: float
    scores: tuple[Sequence[float], ...]


def trend_claim(
    text: str,
    paper: str,
    measured: str,
    differences: Sequence[float],
    *,
    learned: Learned | None,
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
        expected: The paper's side of zero.
        margin: Of "equal" and "not less".
        spread: The least standard deviation of differences with a side: see `headway.paper.verdicts.t_interval`.
        digits: Of the differences.
        why: What the verdict rests on.
        section: Of the paper; if it is empty, the experiment's.
    """
    found = judge(differences, expected, margin, learned, spread)
    if learned and found != judge(differences, expected, margin, None, spread):
        why = (
            f"{why}; not decided, because a model that is compared has less than {learned.least:g}"
        )
    return Claim(
        text,
        paper,
        measured.format(interval_text(differences, digits, sign=True, spread=spread)),
        found,
        why,
        section,
        p_value(differences, spread)
        if expected in ("more", "less") and len(differences) > 1
        else None,
    )


def judge(
    differences: Sequence[float],
    expected: Expected,
    margin: float,
    learned: Learned | None,
    spread: float = 0.0,
) -> Verdict:
    """Return what differences decide; the arguments are those of `trend_claim`."""
    match expected:
        case "equal":
            found = verdict_equal(differences, margin)
        case "not less":
            found = verdict_not_worse(differences, margin)
        case _:
            found = verdict(differences, 1 if expected == "more" else -1, spread)
    return found if learned is None else if_learned(found, learned.least, *learned.scores)
