"""Two systems on one text: whether they differ, where, and on which sentences most."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from headway.errors import HeadwayError
from headway.evaluation.bootstrap import (
    RESAMPLES,
    SEED,
    Segments,
    interval,
    p_value,
    sacrebleu_p_value,
)
from headway.evaluation.buckets import Bucket, group
from headway.evaluation.guards import check_lines, find_warnings
from headway.evaluation.measures import Measure, chrf_by_line, pick_measures


@dataclass(frozen=True)
class Difference:
    """One measure's verdict; differences are B minus A.

    Attributes:
        key: The measure, as in JSON.
        title: The measure, for people.
        a: Score of A.
        b: Score of B.
        difference: ``b - a``.
        low: Lower end of the difference's 95 % interval, by paired bootstrap.
        high: Upper end.
        p_value: Two-sided: how often chance alone makes a difference as large.
        p_value_sacrebleu: What ``sacrebleu --paired-bs`` prints; about half for clear differences.
        signature: All that must be equal for scores to be comparable.
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
class Sentence:
    """A line on which the systems differ, with chrF2 of both; ``line`` counts from 1."""

    line: int
    source: str | None
    reference: str
    a: str
    b: str
    chrf_a: float
    chrf_b: float


@dataclass(frozen=True)
class Comparison:
    """What is known of two systems' translations of one text.

    Attributes:
        names: What A, B, reference and source are called: file names.
        lines: Number of lines compared.
        same: How many lines both translate alike.
        differences: A verdict for each measure.
        buckets: Scores by reference length and by rare words.
        better_b: Sentences on which B gains most, most first.
        better_a: Sentences on which A gains most, most first.
        warnings: What makes the scores suspect, a line each.
    """

    names: tuple[str, str, str, str]
    lines: int
    same: int
    differences: tuple[Difference, ...]
    buckets: tuple[Bucket, ...]
    better_b: tuple[Sentence, ...]
    better_a: tuple[Sentence, ...]
    warnings: tuple[str, ...]

    def __getitem__(self, key: str) -> Difference:
        """Return the verdict of the measure ``key``, such as ``bleu``."""
        return next(verdict for verdict in self.differences if verdict.key == key)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return asdict(self)

    def to_text(self) -> str:
        """Return the comparison for people: verdicts, buckets, sentences, signatures."""
        return "\n".join(
            [
                *self._head(),
                *self._verdicts(),
                "",
                *self._bucket_rows(),
                *self._sentences(f"B ({self.names[1]}) gains most", self.better_b),
                *self._sentences(f"A ({self.names[0]}) gains most", self.better_a),
                "",
                "Signatures, in the order above",
                *(f"  {verdict.signature}" for verdict in self.differences),
            ]
        )

    def _head(self) -> list[str]:
        a, b, reference, _ = self.names
        return [
            f"A: {a}",
            f"B: {b}",
            f"{self.lines:,} lines against {reference}; {self.same:,} alike in A and B",
            "",
        ]

    def _verdicts(self) -> list[str]:
        width = max(len(verdict.title) for verdict in self.differences)
        rows = [f"{'':<{width}}       A       B   B - A     95 % interval       p"]
        for v in self.differences:
            rows.append(
                f"{v.title:<{width}}  {v.a:6.2f}  {v.b:6.2f}  {v.difference:+6.2f}"
                f"  {v.low:+6.2f} .. {v.high:+6.2f}  {v.p_value:6.4f}"
            )
        printed = ", ".join(f"{v.p_value_sacrebleu:.4f}" for v in self.differences)
        return [*rows, f"p is two-sided; sacrebleu --paired-bs would print {printed}"]

    def _bucket_rows(self) -> list[str]:
        keys = [verdict.key for verdict in self.differences]
        titles = "".join(f"{key + ' A':>11}{'B':>7}{'B - A':>7}" for key in keys)
        rows = [f"{'':<21}{'lines':>7}{titles}"]
        for bucket in self.buckets:
            scores = "".join(
                f"{bucket.a[k]:11.2f}{bucket.b[k]:7.2f}{bucket.b[k] - bucket.a[k]:+7.2f}"
                for k in keys
            )
            rows.append(f"{bucket.name:<21}{bucket.lines:7,}{scores}")
        return rows

    def _sentences(self, title: str, sentences: Sequence[Sentence]) -> list[str]:
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
    measures: Sequence[Measure] = pick_measures(["bleu", "chrf"]),
    sentences: int = 3,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str, str, str] = ("A", "B", "reference", "source"),
) -> Comparison:
    """Compare two systems by paired bootstrap (Koehn, 2004).

    Args:
        a: Raw translations of one system, one a line.
        b: Raw translations of the other, as many.
        references: Raw references, as many.
        sources: Raw source lines, as many, if at hand.
        training: Target side of the training text, if at hand: a word is then rare if it occurs
            there less than five times, and without it if it occurs once in the references.
        language: Of the target, two letters.
        measures: By which; BLEU and chrF2 by default.
        sentences: How many of the sentences that differ most, in each direction.
        resamples: Bootstrap resamples.
        seed: Of the bootstrap.
        names: What to call A, B, reference and source in warnings and errors.

    Raises:
        HeadwayError: If the numbers of lines differ, there are none, or a number is out of range.
    """
    if sentences < 0:
        raise HeadwayError(f"sentences = {sentences} must be 0 or more")
    shown_a, shown_b = (names[0], *names[2:]), (names[1], *names[2:])
    check_lines(a, references, sources, shown_a)
    check_lines(b, references, sources, shown_b)
    counted = {
        measure: (
            measure.segments(a, references, language),
            measure.segments(b, references, language),
        )
        for measure in measures
    }
    chrf_a, chrf_b = chrf_by_line(a, references), chrf_by_line(b, references)
    gains = sorted(
        (row for row in range(len(references)) if chrf_a[row] != chrf_b[row]),
        key=lambda row: chrf_a[row] - chrf_b[row],
    )

    def show(row: int) -> Sentence:
        source = None if sources is None else sources[row]
        return Sentence(row + 1, source, references[row], a[row], b[row], chrf_a[row], chrf_b[row])

    return Comparison(
        names=names,
        lines=len(references),
        same=sum(x == y for x, y in zip(a, b, strict=True)),
        differences=tuple(
            _verdict(measure, *segments, resamples, seed) for measure, segments in counted.items()
        ),
        buckets=tuple(
            Bucket(
                name,
                len(rows),
                {m.key: segments[0].total(rows) for m, segments in counted.items()},
                {m.key: segments[1].total(rows) for m, segments in counted.items()},
            )
            for name, rows in group(references, training).items()
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


def _verdict(measure: Measure, a: Segments, b: Segments, resamples: int, seed: int) -> Difference:
    drawn = b.resampled(resamples, seed) - a.resampled(resamples, seed)
    score_a, score_b = a.total(), b.total()
    low, high = interval(drawn)
    return Difference(
        key=measure.key,
        title=measure.title,
        a=score_a,
        b=score_b,
        difference=score_b - score_a,
        low=low,
        high=high,
        p_value=p_value(drawn, score_b - score_a),
        p_value_sacrebleu=sacrebleu_p_value(drawn, score_b - score_a),
        signature=a.signed(resamples, seed),
    )
