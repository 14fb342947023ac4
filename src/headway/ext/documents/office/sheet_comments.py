"""Comments in cells. A note begins with the name of its author. A comment in a thread may mention people."""

import html
import re
from functools import lru_cache, partial

from headway.ext.documents.office.content_reader import ContentReader
from headway.ext.documents.office.dialects import CELL_DIALECT
from headway.ext.documents.office.inline import (
    Inline,
    InlineParagraph,
    InlinePart,
    Render,
    SourceSpan,
)
from headway.ext.documents.office.run_reader import RunReader
from headway.ext.documents.paragraph import Element, Translated
from headway.ext.documents.placing import place
from headway.ext.documents.xml_tokens import XmlToken, escape_text, find_attributes

_AUTHOR = re.compile(r"<(?:\w+:)?author>([^<]*)</")
_COUNT = re.compile("[0-9]{1,9}")
_UNIT = "utf-16-le"  # places in a comment are counted in units of two bytes


class _NoteReader(RunReader):
    """Reads a note; a first run with nothing but the name of an author is no part of its text."""

    def _close(self, token: XmlToken) -> None:
        super()._close(token)
        if token.name != "r" or len(self._parts) != 1:
            return
        part = self._parts[0]
        if isinstance(part, InlinePart) and _names_author(part.text, self._source):
            self._parts, self.start = [], token.end


NOTE = partial(_NoteReader, CELL_DIALECT)


def _names_author(text: str, source: str) -> bool:
    name, colon, rest = text.strip().rpartition(":")
    return bool(colon) and not rest and name.strip() in _find_authors(source)


@lru_cache(maxsize=1)
def _find_authors(source: str) -> frozenset[str]:
    """Return the names of the authors of a part with notes, which stand before the notes."""
    names = _AUTHOR.findall(source.partition("commentList")[0])
    return frozenset(html.unescape(name).strip() for name in names)


class CommentReader(ContentReader):
    """Reads and writes a comment in a thread; a mention is an element around the name, with the place in the text that it tells.

    Args:
        opening: The opening tag of the comment.
        source: The source of the part.
    """

    def __init__(self, opening: XmlToken, source: str) -> None:
        super().__init__(opening)
        self._text, self._text_end = "", opening.end  # the mentions stand behind the text
        self._is_text = False
        self._mentions: list[XmlToken] = []

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the text of the comment."""
        self.end = closing.start
        found = sorted(map(self._read_mention, self._mentions), key=lambda element: element.start)
        elements: list[Element[Inline]] = []
        for element in found:
            if (elements[-1].end if elements else 0) <= element.start < element.end:
                elements.append(element)
        return InlineParagraph(self._text, elements)

    def write(self, paragraph: InlineParagraph, translated: Translated, render: Render) -> str:
        """Return the text of a comment in its translation, and what stands behind it in the comment."""
        text, indexes = "", {}
        for part in place(paragraph, translated):
            if isinstance(part, str):
                text += part
                continue
            (piece,) = part.element.content.before
            indexes[piece] = len(text.encode(_UNIT)) // 2
            text += paragraph.text[part.element.start : part.element.end]
        out, at = escape_text(text), self._text_end
        for piece, index in sorted(indexes.items()):
            out += f'{render(at, piece.start)}"{index}"'
            at = piece.end
        return out + render(at, self.end)

    def _open(self, token: XmlToken) -> None:
        if token.name == "text" and token.kind == "open":
            self._is_text = True
            self.start = self._text_end = token.end
        elif token.name == "mention":
            self._mentions.append(token)

    def _close(self, token: XmlToken) -> None:
        if token.name == "text":
            self._is_text, self._text_end = False, token.start

    def _read_text(self, token: XmlToken) -> None:
        if self._is_text:
            self._text += token.text

    def _read_mention(self, token: XmlToken) -> Element[Inline]:
        """Return the element of a mention; one without a valid place has no text."""
        place, length = (token.attributes.get(name, "") for name in ("startIndex", "length"))
        if not (_COUNT.fullmatch(place) and _COUNT.fullmatch(length)):
            return Element(0, 0, Inline())
        units = self._text.encode(_UNIT)
        start = len(units[: 2 * int(place)].decode(_UNIT, "ignore"))
        end = len(units[: 2 * (int(place) + int(length))].decode(_UNIT, "ignore"))
        first, last = find_attributes(token.source)["startIndex"]
        content = Inline((SourceSpan(token.start + first, token.start + last),))
        return Element(start, end, content, is_kept=True)
