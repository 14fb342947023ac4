"""The direction of the text in office files: a translation from or into a language of the other direction turns it."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from headway.ext.documents.text_file import Edit
from headway.ext.documents.xml_tokens import XmlToken, find_attributes

Directions = tuple[str, str]  # of the text and of its translation, "ltr" or "rtl"


class TextDirection(Protocol):
    """Changes the direction of a part; it gets all tags of the part in their order."""

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""


MakeDirection = Callable[[Directions], TextDirection]


class Directed(NamedTuple):
    """An attribute that depends on the direction of the text.

    Attributes:
        name: The attribute; one that begins with a colon has the prefix of the element.
        ltr: Its values for text from left to right; the first is written.
        rtl: Its values for text from right to left.
        is_added: Whether text from right to left gets it where it is missing.
    """

    name: str
    ltr: tuple[str, ...]
    rtl: tuple[str, ...]
    is_added: bool = False


ON_OR_OFF = (("0", "false"), ("1", "true"))


def mirror(name: str, left: tuple[str, ...], right: tuple[str, ...]) -> list[Directed]:
    """Return what becomes of an attribute that names a side, of which the left becomes the right, and the right the left."""
    return [Directed(name, left, right), Directed(name, right, left)]


class AttributeDirection:
    """Changes the direction by attributes.

    Args:
        attributes: What depends on the direction, by the names of elements without prefixes.
        directions: See `Directions`.
    """

    def __init__(self, attributes: Mapping[str, list[Directed]], directions: Directions) -> None:
        self._attributes, self._directions = attributes, directions

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        if token.kind == "close" or token.name not in self._attributes:
            return []
        edits, spans = [], find_attributes(token.source)
        for attribute in self._attributes[token.name]:
            name = (
                f"{token.prefix}{attribute.name[1:]}"
                if attribute.name.startswith(":")
                else attribute.name
            )
            before, after = (getattr(attribute, direction) for direction in self._directions)
            if name in spans:
                start, end = spans[name]
                if token.source[start + 1 : end - 1] in before:
                    edits.append(Edit(token.start + start, token.start + end, f'"{after[0]}"'))
            elif attribute.is_added and self._directions[1] == "rtl":
                edits.append(add_attribute(token, name, after[0]))
        return edits


def add_attribute(token: XmlToken, name: str, value: str) -> Edit:
    """Return the edit that adds an attribute to a tag."""
    place = token.end - (2 if token.kind == "empty" else 1)
    return Edit(place, place, f' {name}="{value}"')
