"""Translation of texts of any length: split into sentences, translated, and joined again."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from headway.config import SearchConfig
from headway.ext.documents.paragraph import Translated
from headway.ext.protect import (
    divide_at_breaks,
    has_words,
    is_measure,
    is_symbol,
    split_protected,
)
from headway.text import (
    Languages,
    Span,
    Tokenizer,
    WordLinks,
    find_words,
    is_translatable,
    translate_gap,
)
from headway.translation import Job, Pipeline, Translation, split_sentences, together

if TYPE_CHECKING:
    from headway.translation import Translator

# A run of white space is matched once, from its beginning: the time is linear in its length.
_LINE_BREAKS = re.compile(r"(?<!\s)\s*[\n\r]\s*")
_SENTENCE_END = re.compile(r"[.!?…。！？।؟][^\w\s]*\s*\S")


_MARKS = ".…!?:;,。！？：；，、"  # at the end of a text
_UNLIKE_STOPS = (":", ";", ",", "...", "…", "：", "；", "，", "、")
_MEASURED = re.compile(r"[\d.]\s?[^\W\d_]+\.$")  # such as "5 Mio." and "v. Chr."


@dataclass(frozen=True)
class SplitText:
    """A text and its sentences: ``language_name + gaps[0] + sentences[0] + gaps[1] + ...`` is the text, but for white space before the name.

    Attributes:
        text: The whole text.
        gaps: White space, tags such as ``<br>``, and what has no words, such as escapes, marks and placeholders; one
            more than sentences.
        sentences: What is translated.
        language_name: The name of a target language at the text's beginning (``>>deu<<``), or "".
    """

    text: str
    gaps: list[str]
    sentences: list[str]
    language_name: str = ""

    @property
    def lines(self) -> list[str]:
        """The sentences; each starts with the name of the target language."""
        return [self.language_name + sentence for sentence in self.sentences]

    @classmethod
    def divide(cls, text: str, language: str, is_split: bool = True) -> "SplitText":
        """Split a text without the name of a language.

        Args:
            text: Any text.
            language: Language code; abbreviations of the language do not end sentences.
            is_split: Split lines into sentences; if false, a line counts as one sentence.
        """
        gaps: list[list[str]] = [[]]  # each in pieces: a text may have as many as characters
        sentences: list[str] = []
        breaks = (found.span() for found in _LINE_BREAKS.finditer(text))
        places = [0, *chain.from_iterable(breaks), len(text)]
        for number, (start, end) in enumerate(pairwise(places)):
            line = text[start:end]
            if number % 2:
                gaps[-1].append(line)
                continue
            for place, piece in enumerate(divide_at_breaks(line)):
                is_gap = place % 2 == 0
                has_several = not is_gap and is_split and _SENTENCE_END.search(piece)
                parts = split_protected(piece, language) if has_several else [piece]
                for part in parts:
                    sentence = part.strip()
                    # A piece needs a translation, but not each of several parts.
                    if is_gap or (
                        len(parts) > 1 and not (has_words(sentence) or is_measure(sentence))
                    ):
                        gaps[-1].append(part)
                        continue
                    before, _, after = part.partition(sentence)
                    gaps[-1].append(before)
                    sentences.append(sentence)
                    gaps.append([after])
        return cls(text, ["".join(gap) for gap in gaps], sentences)

    def join(self, translations: Sequence[str], languages: Languages) -> tuple[str, list[int]]:
        """Put translations in the places of the sentences.

        Args:
            translations: One for each sentence.
            languages: Codes of the text and of the translations.

        Returns:
            The text, and where each translation starts in it.
        """
        first, *others = self.target_gaps(languages)
        text, starts = first, []
        for translation, gap in zip(translations, others, strict=True):
            starts.append(len(text))
            text += translation + gap
        return text, starts

    def target_gaps(self, languages: Languages) -> list[str]:
        """Return what stands before, between and after the translations; see `translate_gap`."""
        if not self.sentences:
            return self.gaps
        first, *inner, last = self.gaps
        return [first, *(translate_gap(gap, languages) for gap in inner), last]

    def starts(self) -> list[int]:
        """Return where each sentence starts in the text."""
        found, at = [], len(self.language_name) + len(self.gaps[0])
        for sentence, gap in zip(self.sentences, self.gaps[1:], strict=True):
            found.append(at)
            at += len(sentence) + len(gap)
        return found


class SentenceTranslation(NamedTuple):
    """The translation of a sentence of a text.

    Attributes:
        source: The sentence.
        start: Where its translation starts in the translation of the text, in characters.
        translation: The best translation.
    """

    source: str
    start: int
    translation: Translation


@dataclass
class TextTranslation:
    """The translation of a text.

    Attributes:
        text: The best translation.
        score: The length-normalized log-probability, summed over the sentences.
        alternatives: (text, score) of the next best translations.
        links: Words that belong together; None unless they were requested.
        sentences: In the order of the text; what is no sentence stays as it is.
        quality: The mean quality of the sentences, by their lengths; 1 if there are none, or none is rated.
        kept: Where the protected texts of a paragraph stand in the translation, by where they start in the paragraph.
    """

    text: str
    score: float = 0.0
    alternatives: list[tuple[str, float]] = field(default_factory=list)
    links: WordLinks | None = None
    sentences: list[SentenceTranslation] = field(default_factory=list)
    quality: float = 1.0
    kept: Mapping[int, Span] = field(default_factory=dict)

    def for_document(self, finished: float | None = None) -> Translated:
        """Return what a document needs of the translation of its paragraph.

        Args:
            finished: From which quality it needs nobody's review, if the file says so; 0: any; None: it always does.
        """
        is_good = (
            finished is not None
            and bool(self.sentences)
            and all(
                round(best.quality or 0.0, 4) >= finished and not best.defects
                for _, _, best in self.sentences
            )
        )
        return Translated(self.text, self.links, self.kept, is_finished=is_good or finished == 0)


class TextPipeline:
    """How texts of any length are translated, by one model after the other.

    Args:
        route: The models; each translates what the one before it has written. If there are none, texts stay as they are.
        search: Search settings; None: those of each model.
        alternatives: Further translations of each text, by the last model.
        align: Also link the words of each text and its translation.
        quality: Also rate the translation of each sentence, and translate again what looks broken.
        is_split: Translate each sentence of a line by itself.
        is_document: Whether the texts are of a document; see `split` and `finish_sentence`.
        window: Sentences of a text that are translated together; None: all.

    Attributes:
        route: The pipelines of the models, none of which splits a line into sentences.

    Raises:
        HeadwayError: If a model cannot do so; see `Translator.pipeline`.
    """

    def __init__(
        self,
        route: "Sequence[Translator]",
        search: SearchConfig | None = None,
        *,
        alternatives: int = 0,
        align: bool = False,
        quality: bool = False,
        is_split: bool = True,
        is_document: bool = False,
        window: int | None = None,
    ) -> None:
        self.route: list[Pipeline] = []
        for number, translator in enumerate(route, 1):
            own = replace(search or translator.default_search, split_sentences=False)
            if alternatives and number == len(route):
                n_best = 1 + alternatives
                own = replace(own, n_best=n_best, beam=max(own.beam, n_best))
            self.route.append(translator.pipeline(own, align=align, quality=quality))
        self._align, self._window = align, window
        self._is_split, self._is_document = is_split, is_document

    @property
    def keeps_text(self) -> bool:
        """Whether all models keep placeholders and the like."""
        return all(pipeline.search.keep for pipeline in self.route)

    def translate(self, text: str) -> Job[TextTranslation]:
        """Translate a text; what is no sentence stays as it is.

        Words of the last translation are linked to words of the text, and its quality is the lowest of all models'.
        """
        found: TextTranslation | None = None
        for pipeline in self.route:
            split, before = self.split(pipeline, text), found
            parts = yield from together(map(pipeline.translate, split.lines), self._window)
            found = join_sentences(split, parts, pipeline.languages, self._align, self._is_document)
            text = found.text
            if before is not None:
                found.quality = min(before.quality, found.quality)
                if before.links and found.links:
                    found.links = before.links.then(found.links)
        if found is None:
            return TextTranslation(text, links=WordLinks.identity(text) if self._align else None)
        return found

    def split(self, pipeline: Pipeline, text: str) -> SplitText:
        """Split a text into the sentences that a model translates.

        In a document symbols alone stay, but for numbers with units, and texts in another script.
        """
        tokenizer = pipeline.forward.tokenizer
        is_kept = self._is_document and (is_symbol(text) or not is_readable(text, tokenizer))
        if is_kept and not is_measure(text):
            return SplitText(text, [text], [])
        stripped = text.lstrip()
        name = tokenizer.named_language(stripped)
        rest = text[: len(text) - len(stripped)] + stripped[len(name) :] if name else text
        found = SplitText.divide(rest, pipeline.languages[0], self._is_split)
        return replace(found, text=text, language_name=name)


def join_sentences(
    split: SplitText,
    found: Sequence[Sequence[Translation]],
    languages: Languages,
    align: bool,
    is_document: bool = False,
) -> TextTranslation:
    """Join the translations of a text's sentences, best with best.

    Args:
        split: The text.
        found: For each sentence its n best translations; they have alignments if ``align``.
        languages: Codes of the text and of the translations.
        align: Also link the words of the text and its best translation.
        is_document: Whether the texts are of a document; see `finish_sentence`.
    """
    if not found:  # a paragraph of a document that stays needs no links
        is_linked = align and not is_document
        links = WordLinks.identity(split.text) if is_linked else None
        return TextTranslation(split.text, links=links)
    if is_document:
        found = [
            [
                replace(each, text=finish_sentence(sentence, each.text, languages[1]))
                for each in n_best
            ]
            for sentence, n_best in zip(split.sentences, found, strict=True)
        ]
    versions = []
    for rank in range(max(map(len, found))):
        # A sentence with fewer versions repeats its last one.
        chosen = [n_best[min(rank, len(n_best) - 1)] for n_best in found]
        joined, starts = split.join([t.text for t in chosen], languages)
        versions.append((joined, sum(t.score for t in chosen), starts))
    best, score, target_starts = versions[0]
    alternatives: dict[str, float] = {}
    for version, value, _ in versions[1:]:
        if version.strip() and version != best:
            alternatives.setdefault(version, value)
    result = TextTranslation(best, score, list(alternatives.items()))
    result.sentences = [
        SentenceTranslation(sentence, start, first)
        for sentence, start, (first, *_) in zip(split.sentences, target_starts, found, strict=True)
    ]
    rated = [(len(s.source), s.translation.quality) for s in result.sentences]
    result.quality = mean_quality([(n, q) for n, q in rated if q is not None])
    if align:
        starts = split.starts()
        result.links = WordLinks(
            _find_words(split.text, starts, split.sentences),
            _find_words(best, target_starts, [first.text for first, *_ in found]),
        )
        for start, (sentence, target_start, first) in zip(starts, result.sentences, strict=True):
            pairs = first.alignment or []
            result.links.add_sentence(sentence, start, first.text, target_start, pairs)
    return result


def _find_words(text: str, starts: Sequence[int], sentences: Sequence[str]) -> list[Span]:
    """Return the words of a text, none of which goes on into another sentence, such as behind an escape."""
    ends = [start + len(sentence) for start, sentence in zip(starts, sentences, strict=True)]
    places = [*chain.from_iterable(zip(starts, ends, strict=True))]
    cut: list[Span] = []
    for start, end in find_words(text):
        inside = places[bisect_right(places, start) : bisect_left(places, end)]
        cut += pairwise([start, *inside, end])
    return cut


def finish_sentence(source: str, translation: str, language: str) -> str:
    """Return a translation as a document needs it.

    It has no full stop at its end if the source has none, or another mark, there: a model that has read sentences only
    writes one behind titles and labels, too. That of an abbreviation stays. If the translation has no words, the source
    stays.

    Args:
        source: A sentence or a label.
        translation: Its translation.
        language: Code of the translation's language.
    """
    if not is_translatable(translation):
        return source
    own, end = (text[len(text.rstrip(_MARKS)) :] for text in (unescape(source), translation))
    if end not in (".", "。") or (own and own not in _UNLIKE_STOPS):
        return translation
    if not own and _ends_in_abbreviation(translation, language):
        return translation
    # The mark may be written as a reference: the shortest end of the source that means it.
    ends = (source[len(source) - n :] for n in range(len(source) + 1))
    return translation[:-1].rstrip() + next(end for end in ends if unescape(end) == own)


def _ends_in_abbreviation(text: str, language: str) -> bool:
    """Return whether a text ends in an abbreviation that the splitter of sentences knows.

    Many are also words ("No.", "Art."), so that one counts only behind a number or another abbreviation.
    """
    following = "Xx"
    return (
        _MEASURED.search(text) is not None
        and split_sentences(f"{text} {following}", language)[-1] != following
    )


def mean_quality(parts: Sequence[tuple[int, float]]) -> float:
    """Return the mean of qualities, each with the length of its part; 1 if there are none."""
    total = sum(length for length, _ in parts)
    return sum(length * quality for length, quality in parts) / total if total else 1.0


def is_readable(text: str, tokenizer: Tokenizer) -> bool:
    """Return whether a text has a letter of the vocabulary, or no letter; a text in another script has none.

    Args:
        text: Any text.
        tokenizer: Of the model.
    """
    letters = tokenizer.source_letters
    # As the vocabulary reads it, which knows no full-width letters.
    written = normalize("NFKC", text)
    return any(c in letters for c in written) or not any(map(str.isalpha, written))
