"""The score sheet: one translation, every measure that figures are published in."""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from headway.evaluation.bootstrap import RESAMPLES, SEED, interval
from headway.evaluation.comet import CometScore
from headway.evaluation.guards import NAMES, check_lines, find_warnings
from headway.evaluation.measures import MEASURES, Measure
from headway.evaluation.published import beside


@dataclass(frozen=True)
class Score:
    """A measure's value for one text.

    Attributes:
        key: The measure, as in JSON.
        title: The measure, for people.
        score: 0 to 100; TER may exceed it.
        low: Lower end of the 95 % bootstrap interval.
        high: Upper end.
        signature: All that must be equal for two scores to be comparable.
        beside: Which published figures it may stand beside.
    """

    key: str
    title: str
    score: float
    low: float
    high: float
    signature: str
    beside: str


@dataclass(frozen=True)
class ScoreSheet:
    """What is known of one system's translations of one text.

    Attributes:
        names: What hypothesis, reference and source are called: file names.
        lines: Number of lines scored.
        language: Of the target, as the Moses rules took it.
        scores: In order, the headline first.
        warnings: What makes these scores suspect, a line each.
        comet: The score of a learned metric, if one was asked for; set by `dataclasses.replace`.
    """

    names: tuple[str, str, str]
    lines: int
    language: str
    scores: tuple[Score, ...]
    warnings: tuple[str, ...]
    comet: CometScore | None = None

    def __getitem__(self, key: str) -> Score:
        """Return the score of the measure ``key``, such as ``bleu``."""
        return next(score for score in self.scores if score.key == key)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        hypothesis, reference, _ = self.names
        return {
            "hypothesis": hypothesis,
            "reference": reference,
            "lines": self.lines,
            "language": self.language,
            "scores": {
                s.key: {k: v for k, v in asdict(s).items() if k != "key"} for s in self.scores
            },
            "comet": asdict(self.comet) if self.comet else None,
            "warnings": list(self.warnings),
        }

    def to_text(self) -> str:
        """Return the sheet for people: scores, what they may stand beside, signatures."""
        width = max(len(score.title) for score in self.scores)
        rows = [
            f"{s.title:<{width}}  {s.score:6.2f}  {s.low:6.2f} .. {s.high:6.2f}"
            + "  the one to report" * (s.key == "bleu")
            for s in self.scores
        ]
        if self.comet:
            rows.append(f"{'COMET':<{width}}  {self.comet.score:6.4f}  {self.comet.model}")
        hypothesis, reference, _ = self.names
        notes = [_hanging(f"{s.title.partition(' (')[0]}: {s.beside}") for s in self.scores]
        return "\n".join(
            [
                f"{hypothesis} against {reference}: {self.lines:,} lines in '{self.language}'",
                "",
                f"{'':<{width}}   score  95 % interval",
                *rows,
                "",
                "May stand beside, on the same text only",
                *notes,
                "",
                "Signatures, in the order above",
                *(f"  {s.signature}" for s in self.scores),
            ]
        )


def score_sheet(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    language: str = "en",
    measures: Sequence[Measure] = MEASURES,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str, str] = NAMES,
) -> ScoreSheet:
    """Score translations by every measure, with bootstrap intervals and warnings.

    Args:
        hypotheses: Raw (detokenised) translations, one a line.
        references: Raw references, untouched, as many.
        sources: Raw source lines, if at hand: untranslated lines are then noticed.
        language: Of the target, two letters, for the tokenised measures.
        measures: Which measures, all by default.
        resamples: Bootstrap resamples behind each interval.
        seed: Of the bootstrap; the default is sacreBLEU's, and gives its intervals.
        names: What to call hypothesis, reference and source in warnings and errors.

    Returns:
        The sheet.

    Raises:
        HeadwayError: If the numbers of lines differ, or there are none.
    """
    check_lines(hypotheses, references, sources, names)
    scores = []
    for measure in measures:
        segments = measure.segments(hypotheses, references, language)
        low, high = interval(segments.resampled(resamples, seed))
        scores.append(
            Score(
                key=measure.key,
                title=measure.title,
                score=segments.total(),
                low=low,
                high=high,
                signature=segments.signed(resamples, seed),
                beside=beside(measure.key, language, len(references)),
            )
        )
    return ScoreSheet(
        names=names,
        lines=len(references),
        language=language,
        scores=tuple(scores),
        warnings=tuple(find_warnings(hypotheses, references, sources, names)),
    )


def _hanging(text: str) -> str:
    return textwrap.fill(text, width=80, initial_indent="  ", subsequent_indent="    ")
