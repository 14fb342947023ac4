"""Translation of texts of any length: split into sentences, translated, and joined again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain, islice
from typing import NamedTuple

from headway.config import SearchConfig
from headway.documents.kept_marks import KeptMarks
from headway.documents.paragraph import Translated
from headway.inference.segments.passages import Passage
from headway.inference.segments.readable import is_readable
from headway.inference.segments.splitting import split_sentences
from headway.inference.translation import Translation
from headway.inference.translator import WINDOW, Translator
from headway.text.kept_text import is_symbol
from headway.text.languages import is_translatable
from headway.text.word_links import WordLinks
from headway.text.words import Span, cut_words, find_words

_MARKS = ".…!?:;,。！？：；，、"  # at the end of a text
_UNLIKE_STOPS = (":", ";", ",", "...", "…", "：", "；", "，", "、")
_MEASURED = re.compile(r"[\d.]\s?[^\W\d_]+\.$")  # such as "5 Mio." and "v. Chr."


@dataclass(frozen=True)
class SplitText:
    """A text and its sentences.

    Attributes:
        text: The whole text.
        passage: The sentences, without the name of a target language.
        language_name: The name of a target language at the text's beginning (``>>deu<<``), or "".
    """

    text: str
    passage: Passage
    language_name: str

    @classmethod
    def split(
        cls, translator: Translator, text: str, is_split: bool = True, is_document: bool = False
    ) -> "SplitText":
        """Split a text.

        Args:
            translator: The model that will translate it.
            text: Any text.
            is_split: Translate each sentence of a line by itself.
            is_document: Whether the text is of a document, in which symbols alone stay, and texts in another script.
        """
        if is_document and (is_symbol(text) or not is_readable(text, translator.tokenizer)):
            return cls(text, Passage([text], []), "")
        stripped = text.lstrip()
        name = translator.tokenizer.named_language(stripped)
        rest = text[: len(text) - len(stripped)] + stripped[len(name) :] if name else text
        return cls(text, Passage.split(rest, translator.languages[0], is_split), name)

    @property
    def lines(self) -> list[str]:
        """The sentences; each starts with the name of the target language."""
        return [self.language_name + sentence for sentence in self.passage.sentences]


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
        kept: Where the kept texts of a paragraph stand in the translation, by where they start in the paragraph.
    """

    text: str
    score: float = 0.0
    alternatives: list[tuple[str, float]] = field(default_factory=list)
    links: WordLinks | None = None
    sentences: list[SentenceTranslation] = field(default_factory=list)
    quality: float = 1.0
    kept: Mapping[int, Span] = field(default_factory=dict)

    @property
    def for_document(self) -> Translated:
        """What a document needs of the translation of its paragraph."""
        return Translated(self.text, self.links, self.kept)


def translate_texts(
    translator: Translator,
    texts: Sequence[str],
    search: SearchConfig | None = None,
    *,
    align: bool = True,
    quality: bool = False,
    is_split: bool = True,
    is_document: bool = False,
    window: int = WINDOW,
) -> Iterator[TextTranslation]:
    """Translate texts of any length, in their order; what is no sentence stays as it is.

    Args:
        translator: The model.
        texts: Texts, which may have several lines.
        search: Search settings; None: the default.
        align: Also link the words of each text and its translation.
        quality: Also rate the translation of each sentence, and translate again what looks broken.
        is_split: Translate each sentence of a line by itself.
        is_document: Whether the texts are of a document; see `SplitText.split` and `finish_sentence`.
        window: Sentences that are translated together.
    """
    # They are split here.
    search = replace(search or translator.default_search, split_sentences=False)
    splits = [SplitText.split(translator, text, is_split, is_document) for text in texts]
    lines = (line for split in splits for line in split.lines)
    found = translator.stream(lines, search, align=align, quality=quality, window=window)
    for split in splits:
        of_sentences = list(islice(found, len(split.lines)))
        yield join_sentences(split, of_sentences, translator.languages[1], align, is_document)


def join_sentences(
    split: SplitText,
    found: Sequence[Sequence[Translation]],
    language: str,
    align: bool,
    is_document: bool = False,
) -> TextTranslation:
    """Join the translations of a text's sentences, best with best.

    Args:
        split: The text.
        found: For each sentence its n best translations; they have alignments if ``align``.
        language: Language code of the translations.
        align: Also link the words of the text and its best translation.
        is_document: Whether the texts are of a document; see `finish_sentence`.
    """
    if not found:  # a paragraph of a document that stays needs no links
        is_linked = align and not is_document
        links = WordLinks.identity(split.text) if is_linked else None
        return TextTranslation(split.text, links=links)
    if is_document:
        found = [
            [replace(each, text=finish_sentence(sentence, each.text, language)) for each in n_best]
            for sentence, n_best in zip(split.passage.sentences, found, strict=True)
        ]
    versions = []
    for rank in range(max(map(len, found))):
        # A sentence with fewer versions repeats its last one.
        chosen = [n_best[min(rank, len(n_best) - 1)] for n_best in found]
        joined, starts = split.passage.join([t.text for t in chosen], language)
        versions.append((joined, sum(t.score for t in chosen), starts))
    best, score, target_starts = versions[0]
    alternatives: dict[str, float] = {}
    for version, value, _ in versions[1:]:
        if version.strip() and version != best:
            alternatives.setdefault(version, value)
    result = TextTranslation(best, score, list(alternatives.items()))
    result.sentences = [
        SentenceTranslation(sentence, start, first)
        for sentence, start, (first, *_) in zip(
            split.passage.sentences, target_starts, found, strict=True
        )
    ]
    rated = [(len(s.source), s.translation.quality) for s in result.sentences]
    result.quality = mean_quality([(n, q) for n, q in rated if q is not None])
    if align:
        starts = [start + len(split.language_name) for start in split.passage.starts()]
        result.links = WordLinks(
            _find_words(split.text, starts, split.passage.sentences),
            _find_words(best, target_starts, [first.text for first, *_ in found]),
        )
        for start, (sentence, target_start, first) in zip(starts, result.sentences, strict=True):
            pairs = first.alignment or []
            result.links.add_sentence(sentence, start, first.text, target_start, pairs)
    return result


def _find_words(text: str, starts: Sequence[int], sentences: Sequence[str]) -> list[Span]:
    """Return the words of a text, none of which goes on into another sentence, such as behind an escape."""
    places = [
        (start, start + len(sentence)) for start, sentence in zip(starts, sentences, strict=True)
    ]
    return cut_words(find_words(text), [*chain.from_iterable(places)])


def expand_kept(found: TextTranslation, marks: KeptMarks) -> TextTranslation:
    """Return the translation of a paragraph with the kept texts in the places of their marks."""
    whole = marks.expand(Translated(found.text, found.links))
    places = marks.places(found.text)
    sentences = [
        SentenceTranslation(
            marks.expand_text(source),
            places[start],
            replace(best, text=marks.expand_text(best.text)),
        )
        for source, start, best in found.sentences
    ]
    return replace(
        found,
        text=whole.text,
        alternatives=[(marks.expand_text(text), score) for text, score in found.alternatives],
        links=whole.links,
        sentences=sentences,
        kept=whole.kept,
    )


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
