"""The metrics of the score sheet, computed by sacreBLEU on raw text or on tokenized forms of it, on which older papers did."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError, UsageError, suggest
from headway.text.languages import base_code

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

# Languages without spaces between words, for which sacreBLEU chooses 13a, which finds none.
_CHARACTERS = ("th", "lo", "km", "my")
# Languages whose words sacreBLEU finds by further packages, and the tokenizer without these.
_WITHOUT_PACKAGES = {"ja": "char", "ko": "13a"}

_BLOCK = 5000  # lines whose n-grams are in memory at once


NAMES = ("hypothesis", "reference", "source")

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LineStatistics:
    """The statistics of each line, from which the score of any selection of lines is computed.

    Attributes:
        counts: Sufficient statistics [N, K], such as the matches and totals of each n-gram order.
        score: A function from the sum of such rows [K] to the score of the metric, 0 to 100.
        signature: sacreBLEU's description of the metric, without the bootstrap; see `signed`.
    """

    counts: Array
    score: Callable[[Array], float]
    signature: str

    def total(self, rows: Sequence[int] | None = None) -> float:
        """Return the score of the whole text, or of some of its lines (counted from 0)."""
        counts = self.counts if rows is None else self.counts[list(rows)]
        return self.score(counts.sum(0))

    def each(self) -> list[float]:
        """Return the score of each line alone."""
        return [self.score(row) for row in self.counts]

    def resampled(self, resamples: int, seed: int) -> Array:
        """Return the scores [R] of texts of N lines drawn with replacement; see `resample`."""
        from headway.evaluation.bootstrap import resample

        sums = resample(self.counts, resamples, seed)
        return np.array([self.score(row) for row in sums])

    def signed(self, resamples: int, seed: int) -> str:
        """Return the signature with the bootstrap in it, where sacreBLEU writes it."""
        references, _, rest = self.signature.partition("|")
        return f"{references}|bs:{resamples}|seed:{seed}|{rest}"


@dataclass(frozen=True)
class Metric:
    """One way to score a text.

    Attributes:
        key: The name in JSON and on the command line.
        title: The name in tables.
        kind: The formula.
        tokens: The form of the text that is scored: ``raw`` as written, ``moses`` tokenized,
            ``moses-split`` also with hyphenated compounds split, ``get_ende_bleu`` before
            that also with Unicode punctuation replaced, as in the script of the paper's authors (which
            leaves the reference as it is), ``lc.norm.tok`` as Multi30k publishes it.
        lowercase: Whether raw text is lower-cased first.
    """

    key: str
    title: str
    kind: Literal["bleu", "chrf", "ter"]
    tokens: Literal["raw", "moses", "moses-split", "get_ende_bleu", "lc.norm.tok"] = "raw"
    lowercase: bool = False

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str], language: str
    ) -> LineStatistics:
        """Compute the statistics of each line that the metric is made of.

        Args:
            hypotheses: Raw translations, a line each.
            references: Raw references, as many.
            language: Code of the target language; its script and country do not count.
        """
        language = base_code(language)
        scorer = self._sacrebleu(language)
        counts = []
        for start in range(0, len(references), _BLOCK):
            block = slice(start, start + _BLOCK)
            # This method is not part of sacreBLEU's documented interface, but has been the same since
            # version 2.0. The documented interface returns only the total of the statistics.
            counts += scorer._extract_corpus_statistics(
                self._form(hypotheses[block], language), [self._form(references[block], language)]
            )
        signature = scorer.get_signature()
        if self.tokens != "raw":
            signature.update("tok", f"{self.tokens}-{language}")
            signature.update("case", "lc" if self.tokens == "lc.norm.tok" else "mixed")
            signature.update("sacremoses", metadata.version("sacremoses"))
        return LineStatistics(
            counts=np.array(counts, dtype=np.float64),
            score=lambda sums: float(scorer._compute_score_from_stats(sums.tolist()).score),
            signature=str(signature),
        )

    def _sacrebleu(self, language: str) -> "SacreMetric":
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.metrics.ter import TER

        match self.kind:
            case "chrf":
                return CHRF()
            case "ter":
                return TER()
            case "bleu" if self.tokens == "raw":
                tokenizer = "char" if language in _CHARACTERS else None  # None: sacreBLEU's choice
                if find_missing_package(language):
                    language, tokenizer = "", _WITHOUT_PACKAGES[language]
                # force: no warning of sacreBLEU's; `headway.evaluation.text_warnings` is more precise.
                return BLEU(self.lowercase, force=True, tokenize=tokenizer, trg_lang=language)
            case "bleu":
                # The published tokenized figures are by multi-bleu.perl, which does not smooth.
                return BLEU(tokenize="none", smooth_method="none", force=True)

    def _form(self, lines: Sequence[str], language: str) -> list[str]:
        match self.tokens:
            case "raw":
                return list(lines)
            case "moses":
                return moses_tokens(lines, language)
            case "moses-split":
                return [split_compounds(line) for line in moses_tokens(lines, language)]
            case "get_ende_bleu":
                ascii_lines = [replace_unicode_punctuation(line) for line in lines]
                return [split_compounds(line) for line in moses_tokens(ascii_lines, language)]
            case "lc.norm.tok":
                return lc_norm_tok(lines, language)


METRICS = (
    Metric("bleu", "BLEU", "bleu"),
    Metric("bleu_lc", "BLEU, lower-cased", "bleu", lowercase=True),
    Metric("chrf", "chrF2", "chrf"),
    Metric("ter", "TER (lower is better)", "ter"),
    Metric("bleu_moses", "BLEU, Moses tokens", "bleu", tokens="moses"),
    Metric("bleu_moses_split", "BLEU, Moses, compounds split", "bleu", tokens="moses-split"),
    Metric("bleu_paper", "BLEU, get_ende_bleu.sh", "bleu", tokens="get_ende_bleu"),
    Metric("bleu_lc_norm_tok", "BLEU, lc.norm.tok", "bleu", tokens="lc.norm.tok"),
)


def check_lines(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    names: Sequence[str] = NAMES,
) -> None:
    """Check that the texts have the same number of lines, and at least one.

    Args:
        hypotheses: Translations, a line each.
        references: References.
        sources: Source lines, if known.
        names: The names of the three in messages: file names.

    Raises:
        HeadwayError: If they have not; it gives the names and the numbers of lines.
    """
    for other, name in ((hypotheses, names[0]), (sources, names[2])):
        if other is None or len(other) == len(references):
            continue
        raise HeadwayError(
            f"{name} has {len(other):,} lines but {names[1]} has {len(references):,}:"
            " line n of one must belong to line n of the other"
        )
    if not references:
        raise HeadwayError(f"{names[1]} is empty: there is nothing to score")


def find_missing_package(language: str) -> str:
    """Return the package without which sacreBLEU cannot find the words of a language; an empty string: none is missing."""
    from sacrebleu.metrics.bleu import BLEU

    code = base_code(language)
    if code in _WITHOUT_PACKAGES:
        try:
            BLEU(trg_lang=code)
        except (RuntimeError, AssertionError):  # no package, or one with another dictionary
            return f"sacrebleu[{code}]"
    return ""


def pick_metrics(keys: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of these keys, in the sheet's order.

    Raises:
        UsageError: If a key is unknown.
    """
    known = [metric.key for metric in METRICS]
    for key in keys:
        if key not in known:
            raise UsageError(
                f"'{key}' is not a metric{suggest(key, known)}; the metrics are {', '.join(known)}"
            )
    return tuple(metric for metric in METRICS if metric.key in keys)


def bleu(hypotheses: Sequence[str], references: Sequence[str], language: str = "en") -> float:
    """Return cased, detokenized sacreBLEU, 0 to 100: the headline of the sheet.

    Args:
        hypotheses: Raw translations, a line each.
        references: Raw references, as many.
        language: Two-letter code of the target language; it matters only in languages without
            spaces.
    """
    check_lines(hypotheses, references)
    return METRICS[0].statistics(hypotheses, references, language).total()


def chrf_by_line(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return chrF2 of each line alone, 0 to 100; of the metrics it varies least on one sentence.

    Args:
        hypotheses: Raw translations, a line each.
        references: Raw references, as many.
    """
    check_lines(hypotheses, references)
    (chrf,) = pick_metrics(["chrf"])
    return chrf.statistics(hypotheses, references, "en").each()


_COMPOUND = re.compile(r"(\S)-(\S)")


def moses_tokens(lines: Iterable[str], language: str) -> list[str]:
    """Tokenize as Moses' ``tokenizer.perl -l LANGUAGE`` does, with its escapes (``&apos;``).

    Args:
        lines: Raw text.
        language: Two-letter code; a language without rules of its own gets English abbreviations.

    Returns:
        The tokens of each line, joined by single spaces.
    """
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return [tokenizer.tokenize(line, escape=True, return_str=True) for line in lines]


def replace_unicode_punctuation(line: str) -> str:
    """Write Unicode punctuation in ASCII, as Moses' ``replace-unicode-punctuation.perl`` does.

    That script leaves the lower quotation mark of German; the authors' reference has straight quotes
    instead, so it is replaced, too.
    """
    from sacremoses import MosesPunctNormalizer

    for pattern, text in MosesPunctNormalizer.REPLACE_UNICODE_PUNCTUATION:
        line = re.sub(pattern, text, line)
    return line.replace("„", '"')


def split_compounds(line: str) -> str:
    """Split the hyphenated words of a tokenized line, as GNMT, ConvS2S and the paper's authors did before scoring.

    ``Nord-Ost`` becomes ``Nord ##AT##-##AT## Ost``. Splits do not overlap: if a single
    character has a hyphen on both sides, only the first is split, as in the authors' script.
    """
    return _COMPOUND.sub(r"\1 ##AT##-##AT## \2", line)


def lc_norm_tok(lines: Iterable[str], language: str) -> list[str]:
    """Lower-case, normalize punctuation and tokenize, as in Multi30k's ``lc.norm.tok`` files.

    Args:
        lines: Raw text.
        language: Two-letter code, for the rules of quotation marks, numbers and abbreviations.

    Returns:
        The tokens of each line, joined by single spaces.
    """
    from sacremoses import MosesPunctNormalizer

    normalizer = MosesPunctNormalizer(lang=language)
    return moses_tokens((normalizer.normalize(line.lower()) for line in lines), language)
