"""The score sheet: the scores of one system by every metric that papers use."""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from headway.evaluation.bootstrap import RESAMPLES, SEED, interval
from headway.evaluation.comet import CometScore, comet_score
from headway.evaluation.metrics import METRICS, NAMES, Metric, check_lines
from headway.evaluation.published_scores import comparable_scores
from headway.evaluation.text_warnings import find_warnings


@dataclass(frozen=True)
class Score:
    """The score of one text by one metric.

    Attributes:
        key: The metric's name in JSON.
        title: The metric's name in tables.
        score: 0 to 100; TER may exceed it.
        low: Lower end of the 95 % bootstrap interval.
        high: Upper end.
        signature: What must be equal for two scores to be comparable.
        beside: The published figures that the score may be compared with.
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
    """The scores of one system's translations of one text.

    Attributes:
        names: The names of hypothesis, reference and source: file names.
        lines: Number of lines scored.
        language: Code of the target language, by whose rules Moses tokenized.
        scores: The scores, the headline first.
        warnings: Why the scores may be misleading, a line each.
        comet: The score of a learned metric, if one was asked for.
    """

    names: tuple[str, str, str]
    lines: int
    language: str
    scores: tuple[Score, ...]
    warnings: tuple[str, ...]
    comet: CometScore | None = None

    def __getitem__(self, key: str) -> Score:
        """Return the score of the metric ``key``, such as ``bleu``."""
        return next(score for score in self.scores if score.key == key)

    def to_dict(self) -> dict[str, object]:
        """Return the sheet as plain values for JSON."""
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
        """Return the sheet as text: scores, comparable published figures, signatures."""
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
                "May be compared with these published scores, on the same text only",
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
    metrics: Sequence[Metric] = METRICS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str, str] = NAMES,
    comet: bool = False,
) -> ScoreSheet:
    """Score translations by every metric, with bootstrap intervals and warnings.

    Args:
        hypotheses: Raw (detokenized) translations, a line each.
        references: Raw references, unchanged, as many.
        sources: Raw source lines, if known; untranslated lines are then reported.
        language: Two-letter code of the target language, for the tokenized metrics.
        metrics: The metrics, all by default.
        resamples: Number of bootstrap resamples for each interval.
        seed: Of the bootstrap; the default is that of sacreBLEU and gives the same intervals.
        names: The names of hypothesis, reference and source in messages.
        comet: Also run COMET, which needs the sources.

    Raises:
        HeadwayError: If the numbers of lines differ or are 0.
    """
    check_lines(hypotheses, references, sources, names)
    by_comet = comet_score(sources or (), hypotheses, references) if comet else None
    scores = []
    for metric in metrics:
        statistics = metric.statistics(hypotheses, references, language)
        low, high = interval(statistics.resampled(resamples, seed))
        scores.append(
            Score(
                key=metric.key,
                title=metric.title,
                score=statistics.total(),
                low=low,
                high=high,
                signature=statistics.signed(resamples, seed),
                beside=comparable_scores(metric.key, language, len(references)),
            )
        )
    return ScoreSheet(
        names=names,
        lines=len(references),
        language=language,
        scores=tuple(scores),
        warnings=tuple(find_warnings(hypotheses, references, sources, names)),
        comet=by_comet,
    )


def _hanging(text: str) -> str:
    return textwrap.fill(text, width=80, initial_indent="  ", subsequent_indent="    ")
