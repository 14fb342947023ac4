"""Claims on trends: differences between trainings, one for each seed, and what they decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headway.ext.paper.results import Claim
from headway.ext.paper.verdicts import (
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
class LearnedScores:
    """Scores of the models that a trend compares, and what each group must reach for a verdict.

    Attributes:
        least: The least mean.
        scores: Of each group.
    """

    least: float
    scores: tuple[Sequence[float], ...]

    def check(self, found: Verdict) -> Verdict:
        """Return a verdict, or "not decided" if a group has learned too little."""
        return if_learned(found, self.least, *self.scores)


def trend_claim(
    text: str,
    paper: str,
    measured: str,
    differences: Sequence[float],
    *,
    learned: LearnedScores | None,
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
        spread: The least standard deviation of differences with a side: see `headway.ext.paper.verdicts.t_interval`.
        digits: Of the differences.
        why: What the verdict rests on.
        section: Of the paper; if it is empty, the experiment's.
    """
    by_itself = judge(differences, expected, margin, spread)
    found = learned.check(by_itself) if learned else by_itself
    if learned and found != by_itself:
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
    differences: Sequence[float], expected: Expected, margin: float = 0.0, spread: float = 0.0
) -> Verdict:
    """Return what differences decide by themselves; the arguments are those of `trend_claim`."""
    match expected:
        case "equal":
            return verdict_equal(differences, margin)
        case "not less":
            return verdict_not_worse(differences, margin)
    return verdict(differences, 1 if expected == "more" else -1, spread)
