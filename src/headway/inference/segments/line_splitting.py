"""Split a line into the segments that a model translates, each with its placeholders and terms of a glossary."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headway.config import SearchConfig
from headway.inference.segments.marked_text import MarkedText
from headway.inference.segments.reading_writer import ReadingWriter
from headway.inference.segments.readings import StandIn
from headway.inference.segments.splitting import (
    Segment,
    find_list_label,
    split_line,
    split_sentences,
)
from headway.text.capitals import is_in_capitals
from headway.text.glossary import Glossary
from headway.text.kept_text import divide_at_breaks, find_kept_text, has_words
from headway.text.languages import is_translatable
from headway.text.tokenizer import Tokenizer
from headway.text.words import simplify_breaks


def _is_kept(line: str) -> bool:
    """Return whether a line has no letter and no digit, or no words besides what is kept."""
    return not is_translatable(line) or (not has_words(line) and bool(find_kept_text(line)))


def _put_between(before: str, segments: Iterator[Segment], after: str) -> Iterator[Segment]:
    """Yield the segments of a text with what stays before the first and behind the last of them."""
    last = next(segments)._replace(before=before)
    for segment in segments:
        yield last
        last = segment
    yield last._replace(after=after)


@dataclass(frozen=True)
class LineSplitter:
    """Splits lines into segments; see `Translator.split`.

    Args:
        tokenizer: Of the model.
        language: Code of the lines' language.
        search: Search settings: what is kept, and whether each sentence is translated alone.
        longest: Tokens of a segment, at most.
        glossary: Prescribes the translations of terms; None: there is none.
        stand_ins: Returns those of the model; called if there is text to replace.
    """

    tokenizer: Tokenizer
    language: str
    search: SearchConfig
    longest: int
    glossary: Glossary | None
    stand_ins: Callable[[], Sequence[StandIn]]

    @property
    def _is_split(self) -> bool:
        """Whether each sentence is translated alone; "auto" means no where no training has decided."""
        return self.search.split_sentences is True

    def split(self, line: str) -> Iterator[Segment]:
        """Yield the segments of a line."""
        stripped = line.strip()
        if not stripped or (self.search.keep and _is_kept(stripped)):
            return
        text = stripped.removeprefix(self.tokenizer.named_language(stripped)).lstrip()
        language_name = stripped[: len(stripped) - len(text)]
        gap, *parts = divide_at_breaks(text) if self.search.keep else [""]
        if not parts:
            gap, parts = "", [text, ""]
        for part, after in zip(parts[::2], parts[1::2], strict=True):
            label = self._find_label(part) if self.search.keep else ""
            segments = self._split_text(part.removeprefix(label), language_name)
            yield from _put_between(gap + label, segments, after)
            gap = ""

    def _find_label(self, text: str) -> str:
        """Return the label of a list at the beginning of a text, or "" if there is none, or a term begins in it."""
        label = find_list_label(text, self.language, self._is_split)
        terms = self.glossary.find(text) if label and self.glossary else []
        return "" if any(term.start < len(label) for term in terms) else label

    def _split_text(self, text: str, language_name: str) -> Iterator[Segment]:
        """Yield the segments of a text without breaks; the model reads the name of a language before each."""
        tokenizer, language = self.tokenizer, self.language
        marked = MarkedText(text, tokenizer, keep=self.search.keep, glossary=self.glossary)
        # The text as it is written decides: its only words may be terms.
        if is_capital := self.search.keep and is_in_capitals(text):
            marked.to_small_letters(language)

        def encode(part: str) -> list[int]:
            written = simplify_breaks(marked.restore(part))
            return tokenizer.encode_source([language_name + written])[0]

        writer = ReadingWriter(marked, tokenizer, self.stand_ins, language_name)
        for sentence in split_sentences(marked.text, language) if self._is_split else [marked.text]:
            for part in split_line(sentence, language, encode, self.longest):
                yield part._replace(
                    text=marked.restore(part.text),
                    readings=writer.readings(part.text),
                    is_capital=is_capital,
                    language_name=language_name,
                )
