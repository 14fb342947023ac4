"""Where the text of a part stands, and what reads and writes its paragraphs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headway.ext.documents.office.content_reader import ParagraphFormat
from headway.ext.documents.office.directions import MakeDirection
from headway.ext.documents.xml_tokens import XmlToken


@dataclass(frozen=True)
class Grammar:
    """Where the text of a part stands.

    Attributes:
        paragraphs: What reads paragraphs, by the names of their elements.
        plain: Elements whose content is a text, with the element around them or the prefix: ``pt/v``, ``svg:desc``.
        attributes: Names of attributes with text, by the names of elements; both without prefixes.
        is_skipped: Whether the text in an element stays; it gets the opening tag and the source of the part.
        resumed: Elements in such an element whose text does not stay.
        languages: Attributes that name a language, by the names of elements; "*": of any element.
        codes: Elements whose content is a language code, as in `plain`.
        make_direction: Makes what turns the text of a part into the other direction; None: nothing says a direction.
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
    make_direction: MakeDirection | None = None
    may_have_type: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
