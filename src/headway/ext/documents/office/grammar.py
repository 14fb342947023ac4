"""Where the text of a part stands, and what reads and writes its paragraphs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headway.ext.documents.office.directions import MakeTurner
from headway.ext.documents.office.inline import InlineParagraph, Render
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_tokens import XmlToken


class ParagraphReader(Protocol):
    """Reads the tokens of a paragraph."""

    start: int
    end: int
    prefix: str

    @property
    def is_inside(self) -> bool:
        """Whether the next token is in an element that is read as a whole, which may hold paragraphs."""

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""


class ParagraphFormat(Protocol):
    """How paragraphs are written."""

    def read_paragraph(self, opening: XmlToken, source: str) -> ParagraphReader:
        """Return a reader of the paragraph that begins with a tag."""

    def write_paragraph(
        self, paragraph: InlineParagraph, translated: Translated, prefix: str, render: Render
    ) -> str:
        """Return the content of a paragraph in its translation."""


@dataclass(frozen=True)
class Grammar:
    """Where the text of a part stands.

    Attributes:
        paragraphs: Formats of paragraphs by the names of their elements.
        plain: Elements whose content is a text, with the element around them or the prefix: ``pt/v``, ``svg:desc``.
        attributes: Names of attributes with text, by the names of elements; both without prefixes.
        is_skipped: Whether the text in an element stays; it gets the opening tag and the source of the part.
        resumed: Elements in such an element whose text does not stay.
        languages: Attributes that name a language, by the names of elements; "*": of any element.
        codes: Elements whose content is a language code, as in `plain`.
        make_turner: Makes what turns the text of a part into the other direction; None: nothing says a direction.
        may_have_type: Whether it may begin with a document type, without declarations.
        limits: The most characters of paragraphs (by their elements) and attributes (``element/attribute``); a text
            whose translation would have more stays.
    """

    paragraphs: Mapping[str, ParagraphFormat] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_skipped: Callable[[XmlToken, str], bool] = lambda token, source: False
    resumed: frozenset[str] = frozenset()
    languages: Mapping[str, str] = field(default_factory=dict)
    codes: frozenset[str] = frozenset()
    make_turner: MakeTurner | None = None
    may_have_type: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
