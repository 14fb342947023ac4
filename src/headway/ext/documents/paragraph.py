"""A paragraph of a document: its text, and the inline elements in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from headway.text import Span, WordLinks


@dataclass(slots=True)
class Element:
    """An inline element, such as bold words, a link, an image or a code span.

    Attributes:
        start: Where the element starts in the paragraph's text; it has no text if it ends there.
        end: Where the element ends.
        before: Its opening tag, or the whole element if it has no text, or its text stays.
        after: Its closing tag.
        inner: The elements inside.
        is_kept: Whether the text inside stays as it is, such as code.
        kind: Elements of different kinds may stand around the same words; "": this one stands in no other.
            One without text is of the kind "end" if it ends what began in an earlier paragraph.
        is_divisible: Whether a translation may have it in several parts, with other elements between them.
    """

    start: int
    end: int
    before: Any = ""
    after: Any = ""
    inner: Sequence["Element"] = ()
    is_kept: bool = False
    kind: str = ""
    is_divisible: bool = False


def walk(elements: Sequence[Element]) -> Iterator[Element]:
    """Yield elements and those inside of them, in the order of the text."""
    for element in elements:
        yield element
        yield from walk(element.inner)


@dataclass(slots=True)
class Paragraph:
    """What is translated at once: a paragraph, a heading, a cell, a subtitle, an attribute.

    Attributes:
        text: The text as a reader sees it, without marks of the format.
        elements: The inline elements in the order of the text; they do not overlap.
        place: Where a person finds it in the file, such as "slide 3" or "line 12"; "": nothing says so.
        source: The text and its markup as they stand in the file, in text formats with markup.
        lines: The markup of the line breaks in the text, in their order.
    """

    text: str
    elements: Sequence[Element] = ()
    place: str = field(default="", kw_only=True)
    source: str = field(default="", kw_only=True)
    lines: Sequence[Any] = field(default=(), kw_only=True)

    @property
    def kept(self) -> list[Span]:
        """Where text stands that stays as it is, in the order of the text."""
        kept = (each for each in walk(self.elements) if each.is_kept)
        return [(each.start, each.end) for each in kept if each.start < each.end]

    @classmethod
    def of(cls, text: str, kept: Sequence[Span], place: str = "") -> "Paragraph":
        """Return a paragraph that is translated as one with the same `kept`."""
        elements = [Element(*span, is_kept=True) for span in kept]
        return Paragraph(text, elements or (), place=place)


@dataclass(frozen=True, slots=True)
class Translated:
    """The translation of a paragraph.

    Attributes:
        text: The translation of the paragraph's text.
        links: Words that belong together; None: inline elements keep their relative places.
        kept: Where protected texts stand in the translation, by where they start in the paragraph's text. One without an
            entry takes the place of the words that it is linked to.
        is_missing: Whether there is no translation: the text of the paragraph takes its place, or nothing does in a
            file that has both (po, xliff).
        is_finished: Whether it needs nobody's review; files that have states for translations (po, xliff) say so.
    """

    text: str
    links: WordLinks | None = None
    kept: Mapping[int, Span] = field(default_factory=dict)
    is_missing: bool = False
    is_finished: bool = False


class Document(Protocol):
    """A file in memory, whose text can be replaced."""

    @property
    def paragraphs(self) -> Sequence[Paragraph]:
        """What is to be translated, in reading order."""

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its paragraphs replaced.

        Args:
            translations: One for each paragraph.
        """


@dataclass(frozen=True)
class DocumentOptions:
    """What the reader of a document may need to know.

    Attributes:
        source: Language code of the text; "" if it is not known.
        target: Language code of the translation; "" if it is not known.
        columns: Of a table: the names or numbers (from 1) of the columns to translate; commas may separate
            several in one string.
        is_complete: Also translate what has a translation already (po, xliff).
        suffix: Of the file, in small letters.
    """

    source: str = ""
    target: str = ""
    columns: tuple[str, ...] = ()
    is_complete: bool = False
    suffix: str = ""
