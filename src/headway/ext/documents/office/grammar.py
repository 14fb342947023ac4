"""Where the text of a part stands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headway.ext.documents.office.directions import Turn
from headway.ext.documents.office.places import Place
from headway.ext.documents.office.xml_tree import Node


@dataclass(frozen=True)
class Grammar:
    """Where the text of a part stands. Names are without prefixes, if nothing else is said.

    Attributes:
        paragraphs: What reads paragraphs, by the names of their elements.
        plain: Elements whose content is a text, with the element around them or the prefix: ``pt/v``, ``svg:desc``.
        attributes: Names of attributes with text, by the names of elements.
        skipped: Whether the text in an element stays, by the names of elements.
        resumed: Elements in such an element whose text does not stay.
        languages: Attributes that name a language, by the names of elements; "*": of any element.
        codes: Elements whose content is a language code, as in `plain`.
        prepare: Changes the tree before it is read.
        turn: Turns the text into the other direction.
        may_have_type: Whether the part may begin with a document type, without declarations.
        limits: The most characters of paragraphs (by their elements) and attributes (``element/attribute``); a text
            whose translation would have more stays.
    """

    paragraphs: Mapping[str, Callable[[Node], Place]] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    resumed: frozenset[str] = frozenset()
    languages: Mapping[str, str] = field(default_factory=dict)
    codes: frozenset[str] = frozenset()
    prepare: Callable[[Node], None] | None = None
    turn: Turn | None = None
    may_have_type: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
