"""Comments in cells. A note begins with the name of its author. A comment in a thread may mention people."""

import html
import re
from dataclasses import dataclass, field
from functools import lru_cache

from headway.ext.documents.office.dialects import CELL, Runs
from headway.ext.documents.office.escaping import escape_text
from headway.ext.documents.office.inline import Inline, InlineParagraph, Part, Piece, Render
from headway.ext.documents.office.run_reader import RunReader
from headway.ext.documents.paragraph import Element, Translated
from headway.ext.documents.placing import place
from headway.ext.documents.xml_tokens import XmlToken, find_attributes

_AUTHOR = re.compile(r"<(?:\w+:)?author>([^<]*)</")
_COUNT = re.compile("[0-9]{1,9}")
_UNIT = "utf-16-le"  # places in a comment are counted in units of two bytes


class Notes(Runs):
    """The format of notes."""

    def read_paragraph(self, opening: XmlToken, source: str) -> RunReader:
        """Return a reader of the note that begins with a tag."""
        return _NoteReader(self.dialect, opening, source)


NOTE = Notes(CELL.dialect)


class _NoteReader(RunReader):
    """Reads a note; a first run with nothing but the name of an author is no part of its text."""

    def _close(self, token: XmlToken) -> None:
        super()._close(token)
        if token.name != "r" or len(self._parts) != 1:
            return
        part = self._parts[0]
        if isinstance(part, Part) and _names_author(part.text, self._source):
            self._parts, self.start = [], token.end


def _names_author(text: str, source: str) -> bool:
    name, colon, rest = text.strip().rpartition(":")
    return bool(colon) and not rest and name.strip() in _find_authors(source)


@lru_cache(maxsize=1)
def _find_authors(source: str) -> frozenset[str]:
    """Return the names of the authors of a part with notes, which stand before the notes."""
    names = _AUTHOR.findall(source.partition("commentList")[0])
    return frozenset(html.unescape(name).strip() for name in names)


@dataclass
class _Comment(InlineParagraph):
    """A comment in a thread; a mention is an element around the name, with the place in the text that it tells.

    Attributes:
        text_end: Where the text ends in the part; the mentions stand behind it.
        end: Where the comment ends.
    """

    text_end: int = 0
    end: int = 0


class ThreadedComments:
    """The format of comments in threads."""

    def read_paragraph(self, opening: XmlToken, source: str) -> "_CommentReader":
        """Return a reader of the comment that begins with a tag."""
        return _CommentReader(opening)

    def write_paragraph(
        self, paragraph: InlineParagraph, translated: Translated, prefix: str, render: Render
    ) -> str:
        """Return the text of a comment in its translation, and what stands behind it in the comment."""
        assert isinstance(paragraph, _Comment)
        text, indexes = "", {}
        for part in place(paragraph, translated):
            if isinstance(part, str):
                text += part
                continue
            (piece,) = part.element.content.before
            indexes[piece] = len(text.encode(_UNIT)) // 2
            text += paragraph.text[part.element.start : part.element.end]
        out, at = escape_text(text), paragraph.text_end
        for piece, index in sorted(indexes.items()):
            out += f'{render(at, piece.start)}"{index}"'
            at = piece.end
        return out + render(at, paragraph.end)


@dataclass
class _CommentReader:
    """Reads a comment in a thread."""

    opening: XmlToken
    is_inside: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.start = self.end = self._text_end = self.opening.end
        self.prefix = self.opening.prefix
        self._text = ""
        self._is_text = False
        self._mentions: list[XmlToken] = []

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""
        if token.name == "text" and token.kind in ("open", "close"):
            self._is_text = token.kind == "open"
            if self._is_text:
                self.start = self._text_end = token.end
            else:
                self._text_end = token.start
        elif token.name == "mention" and token.kind in ("open", "empty"):
            self._mentions.append(token)
        elif self._is_text and token.kind in ("text", "data"):
            self._text += token.text

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the text of the comment."""
        self.end = closing.start
        found = sorted(map(self._read_mention, self._mentions), key=lambda element: element.start)
        elements: list[Element[Inline]] = []
        for element in found:
            if (elements[-1].end if elements else 0) <= element.start < element.end:
                elements.append(element)
        return _Comment(self._text, elements, text_end=self._text_end, end=self.end)

    def _read_mention(self, token: XmlToken) -> Element[Inline]:
        """Return the element of a mention; one without a valid place has no text."""
        place, length = (token.attributes.get(name, "") for name in ("startIndex", "length"))
        if not (_COUNT.fullmatch(place) and _COUNT.fullmatch(length)):
            return Element(0, 0, Inline())
        units = self._text.encode(_UNIT)
        start = len(units[: 2 * int(place)].decode(_UNIT, "ignore"))
        end = len(units[: 2 * (int(place) + int(length))].decode(_UNIT, "ignore"))
        first, last = find_attributes(token.source)["startIndex"]
        content = Inline((Piece(token.start + first, token.start + last),))
        return Element(start, end, content, is_kept=True)
