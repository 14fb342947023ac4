"""The direction of the text in office files: a translation from or into a language of the other direction turns it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from headway.ext.documents.edits import Edit
from headway.ext.documents.xml_tokens import XmlToken, find_attributes

Directions = tuple[str, str]  # of the text and of its translation, "ltr" or "rtl"


class Turner(Protocol):
    """Turns the text of a part; it gets all tags of the part in their order."""

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""


MakeTurner = Callable[[Directions], Turner]


class Turn(NamedTuple):
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


def mirror(name: str, left: tuple[str, ...], right: tuple[str, ...]) -> tuple[Turn, Turn]:
    """Return the turns of an attribute that names a side, of which the left becomes the right, and the right the left."""
    return Turn(name, left, right), Turn(name, right, left)


class AttributeTurner:
    """Turns the text by attributes.

    Args:
        turns: The attributes, by the names of elements without prefixes.
        directions: See `Directions`.
    """

    def __init__(self, turns: Mapping[str, Sequence[Turn]], directions: Directions) -> None:
        self._turns, self._directions = turns, directions

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        if token.kind == "close" or token.name not in self._turns:
            return []
        edits, spans = [], find_attributes(token.source)
        for turn in self._turns[token.name]:
            name = f"{token.prefix}{turn.name[1:]}" if turn.name.startswith(":") else turn.name
            before, after = (getattr(turn, direction) for direction in self._directions)
            if name in spans:
                start, end = spans[name]
                if token.source[start + 1 : end - 1] in before:
                    edits.append(Edit(token.start + start, token.start + end, f'"{after[0]}"'))
            elif turn.is_added and self._directions[1] == "rtl":
                edits.append(add_attribute(token, name, after[0]))
        return edits


def add_attribute(token: XmlToken, name: str, value: str) -> Edit:
    """Return the edit that adds an attribute to a tag."""
    place = token.end - (2 if token.kind == "empty" else 1)
    return Edit(place, place, f' {name}="{value}"')
