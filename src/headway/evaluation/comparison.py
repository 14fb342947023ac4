"""A comparison of two systems: whether they differ, on which groups of lines, on which sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from headway.errors import HeadwayError
from headway.evaluation.bootstrap import (
    RESAMPLES,
    SEED,
    interval,
    p_value,
    sacrebleu_p_value,
)
from headway.evaluation.groups import LineGroup, group_lines
from headway.evaluation.metrics import (
    LineStatistics,
    Metric,
    check_lines,
    chrf_by_line,
    pick_metrics,
)
from headway.evaluation.text_warnings import find_warnings


@dataclass(frozen=True)
class Difference:
    """The difference of two systems by one metric.

    Attributes:
        key: The metric's name in JSON.
        title: The metric's name in tables.
        a: Score of A.
        b: Score of B.
        difference: ``b - a``.
        low: Lower end of the difference's 95 % interval, by paired bootstrap.
        high: Upper end.
        p_value: The probability of a difference as large by chance alone, two-sided.
        p_value_sacrebleu: What ``sacrebleu --paired-bs`` prints: about half, if the difference is
            clear.
        signature: What must be equal for scores to be comparable.
    """

    key: str
    title: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    p_value_sacrebleu: float
    signature: str


@dataclass(frozen=True)
class ChangedSentence:
    """A sentence that the systems translate differently, with chrF2 of both; ``line`` is from 1."""

    line: int
    source: str | None
    reference: str
    a: str
    b: str
    chrf_a: float
    chrf_b: float


@dataclass(frozen=True)
class Comparison:
    """The comparison of two systems' translations of one text.

    Attributes:
        names: The names of A, B, reference and source: file names.
        language: Code of the target language.
        lines: Number of lines compared.
        same: Number of lines that both translate alike.
        differences: The difference by each metric.
        buckets: Scores of groups of lines, by reference length and by rare words.
        better_b: Sentences on which B gains most, the largest gain first.
        better_a: Sentences on which A gains most, the largest gain first.
        warnings: Why the scores may be misleading, a line each.
    """

    names: tuple[str, str, str, str]
    language: str
    lines: int
    same: int
    differences: tuple[Difference, ...]
    buckets: tuple[LineGroup, ...]
    better_b: tuple[ChangedSentence, ...]
    better_a: tuple[ChangedSentence, ...]
    warnings: tuple[str, ...]

    def __getitem__(self, key: str) -> Difference:
        """Return the difference by the metric ``key``, such as ``bleu``."""
        return next(difference for difference in self.differences if difference.key == key)

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON."""
        return asdict(self)

    def to_text(self) -> str:
        """Return the comparison as text: differences, groups, sentences, signatures."""
        a, b, reference, _ = self.names
        return "\n".join(
            [
                f"A: {a}",
                f"B: {b}",
                f"{self.lines:,} lines in '{self.language}' against {reference}; {self.same:,} alike in A and B",
                "",
                *self._difference_rows(),
                "",
                *self._group_rows(),
                *self._sentences(f"B ({b}) gains most", self.better_b),
                *self._sentences(f"A ({a}) gains most", self.better_a),
                "",
                "Signatures, in the order above",
                *(f"  {difference.signature}" for difference in self.differences),
            ]
        )

    def _difference_rows(self) -> list[str]:
        width = max(len(difference.title) for difference in self.differences)
        rows = [f"{'':<{width}}       A       B   B - A     95 % interval       p"]
        for v in self.differences:
            rows.append(
                f"{v.title:<{width}}  {v.a:6.2f}  {v.b:6.2f}  {v.difference:+6.2f}"
                f"  {v.low:+6.2f} .. {v.high:+6.2f}  {v.p_value:6.4f}"
            )
        printed = ", ".join(f"{v.p_value_sacrebleu:.4f}" for v in self.differences)
        return [*rows, f"p is two-sided; sacrebleu --paired-bs would print {printed}"]

    def _group_rows(self) -> list[str]:
        keys = [difference.key for difference in self.differences]
        titles = "".join(f"{key + ' A':>11}{'B':>7}{'B - A':>7}" for key in keys)
        rows = [f"{'':<21}{'lines':>7}{titles}"]
        for group in self.buckets:
            scores = "".join(
                f"{group.a[k]:11.2f}{group.b[k]:7.2f}{group.b[k] - group.a[k]:+7.2f}" for k in keys
            )
            rows.append(f"{group.name:<21}{group.lines:7,}{scores}")
        return rows

    def _sentences(self, title: str, sentences: Sequence[ChangedSentence]) -> list[str]:
        rows = ["", f"Sentences on which {title}, by chrF2"] if sentences else []
        for s in sentences:
            rows.append(f"  line {s.line:,}: A {s.chrf_a:.1f}, B {s.chrf_b:.1f}")
            rows += [f"    source     {s.source}"] if s.source is not None else []
            rows += [f"    reference  {s.reference}", f"    A          {s.a}"]
            rows.append(f"    B          {s.b}")
        return rows


def compare(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    training: Iterable[str] | None = None,
    language: str = "en",
    metrics: Sequence[Metric] = pick_metrics(["bleu", "chrf"]),
    sentences: int = 3,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str, str, str] = ("A", "B", "reference", "source"),
) -> Comparison:
    """Compare two systems by paired bootstrap (Koehn, 2004).

    Args:
        a: Raw translations of one system, a line each.
        b: Raw translations of the other, as many.
        references: Raw references, as many.
        sources: Raw source lines, as many, if known.
        training: Target side of the training text, if known. A word is rare if it occurs there less
            than five times or, without training text, if it occurs once in the references.
        language: Two-letter code of the target language.
        metrics: The metrics; BLEU and chrF2 by default.
        sentences: Number of sentences to show in each direction, those with the largest gains.
        resamples: Number of bootstrap resamples.
        seed: Of the bootstrap.
        names: The names of A, B, reference and source in messages.

    Raises:
        HeadwayError: If the numbers of lines differ or are 0, or an argument is out of range.
    """
    if sentences < 0:
        raise HeadwayError(f"sentences = {sentences} must be 0 or more")
    shown_a, shown_b = (names[0], *names[2:]), (names[1], *names[2:])
    check_lines(a, references, sources, shown_a)
    check_lines(b, references, sources, shown_b)
    counted = {
        metric: (
            metric.statistics(a, references, language),
            metric.statistics(b, references, language),
        )
        for metric in metrics
    }
    chrf_a, chrf_b = chrf_by_line(a, references), chrf_by_line(b, references)
    gains = sorted(
        (row for row in range(len(references)) if chrf_a[row] != chrf_b[row]),
        key=lambda row: chrf_a[row] - chrf_b[row],
    )

    def show(row: int) -> ChangedSentence:
        source = None if sources is None else sources[row]
        return ChangedSentence(
            row + 1, source, references[row], a[row], b[row], chrf_a[row], chrf_b[row]
        )

    return Comparison(
        names=names,
        language=language,
        lines=len(references),
        same=sum(x == y for x, y in zip(a, b, strict=True)),
        differences=tuple(
            _difference(metric, *statistics, resamples, seed)
            for metric, statistics in counted.items()
        ),
        buckets=tuple(
            LineGroup(
                name,
                len(rows),
                {m.key: statistics[0].total(rows) for m, statistics in counted.items()},
                {m.key: statistics[1].total(rows) for m, statistics in counted.items()},
            )
            for name, rows in group_lines(references, training).items()
        ),
        better_b=tuple(show(row) for row in gains[:sentences] if chrf_b[row] > chrf_a[row]),
        better_a=tuple(show(row) for row in gains[::-1][:sentences] if chrf_a[row] > chrf_b[row]),
        warnings=tuple(
            dict.fromkeys(
                find_warnings(a, references, sources, shown_a)
                + find_warnings(b, references, sources, shown_b)
            )
        ),
    )


def _difference(
    metric: Metric, a: LineStatistics, b: LineStatistics, resamples: int, seed: int
) -> Difference:
    drawn = b.resampled(resamples, seed) - a.resampled(resamples, seed)
    score_a, score_b = a.total(), b.total()
    low, high = interval(drawn)
    return Difference(
        key=metric.key,
        title=metric.title,
        a=score_a,
        b=score_b,
        difference=score_b - score_a,
        low=low,
        high=high,
        p_value=p_value(drawn, score_b - score_a),
        p_value_sacrebleu=sacrebleu_p_value(drawn, score_b - score_a),
        signature=a.signed(resamples, seed),
    )
