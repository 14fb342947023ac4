"""Claims on trainings, and what decides them: differences paired by seed, and a gate for models that have learned too little."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from headway.ext.paper.results import Claim
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.verdicts import (
    MARGIN,
    MARGIN_NATS,
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


class Score(NamedTuple):
    """How differences of a score are written and judged.

    Attributes:
        unit: Of the differences.
        factor: By which differences are multiplied: 100 for shares in percent.
        digits: After the point.
        margin: A smaller difference is none.
        judges: The score that says whether a model has learned.
    """

    unit: str
    factor: float = 1.0
    digits: int = 1
    margin: float = 0.0
    judges: str = "bleu"


# "nats" is the logarithm of the perplexity.
SCORES = {
    "bleu": Score("BLEU", margin=MARGIN),
    "nats": Score("nats a subword", digits=3, margin=MARGIN_NATS),
    "perplexity": Score("perplexity", digits=3),
    "accuracy": Score("% of subwords", 100.0, 2),
    "confidence": Score("% of probability", 100.0),
    "right": Score("% of the labels", digits=2, judges="right"),
    "f1": Score("F1", digits=2, judges="f1"),
}


@dataclass(frozen=True)
class Comparison:
    """The claim that the models of a training score more, or less, than those of another one.

    Attributes:
        text: What the paper says.
        name: The training whose scores count.
        other: The one whose scores, seed by seed, are taken off.
        paper: The paper's number.
        score: A name of `SCORES`.
        expected: The paper's side of zero.
        note: What a reader must know of the verdict.
        section: Of the paper; if it is empty, the experiment's.
        may_fail: Whether it is enough that the models of ``other`` have learned: that those of ``name`` hardly do, which
            differ in one setting, is what the paper says.
    """

    text: str
    name: str
    other: str
    paper: str = ""
    score: str = "bleu"
    expected: Expected = "more"
    note: str = ""
    section: str = ""
    may_fail: bool = False

    def judge(self, groups: Mapping[str, TrialGroup], gate: Gate, spread: float = 0.0) -> Claim:
        """Return the claim with its verdict.

        Args:
            groups: Trainings by their names.
            gate: What the models must have learned.
            spread: See `headway.ext.paper.verdicts.t_interval`.
        """
        ours, theirs, score = groups[self.name], groups[self.other], SCORES[self.score]
        nats = self.score == "nats"
        gaps = ours.nats_less(theirs) if nats else ours.less(theirs, self.score)
        judged = (theirs,) if self.may_fail else (ours, theirs)
        return trend_claim(
            self.text, self.paper, f"{self.name} less {self.other}: {{}} {score.unit}",
            [score.factor * gap for gap in gaps],
            learned=LearnedScores(gate, tuple(group.values(score.judges) for group in judged)),
            optimizer=ours.optimizer, expected=self.expected, margin=score.margin, spread=spread,
            digits=score.digits, why="paired by seed" + (f"; {self.note}" if self.note else ""),
            section=self.section,
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
        expected: The paper's side of zero.
        margin: Of "equal" and "not less".
        spread: See `headway.ext.paper.verdicts.t_interval`.
        digits: Of the differences.
        why: What the verdict rests on.
        section: Of the paper; if it is empty, the experiment's.
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
