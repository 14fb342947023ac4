"""Reads a paragraph of an office file from the stream of tokens, and writes its translation."""

from collections.abc import Callable
from typing import Any

from headway.ext.documents.office.fields import FieldMark, join_fields
from headway.ext.documents.office.inline import (
    ContentWriter,
    InlineParagraph,
    InlinePart,
    PartKind,
    Render,
    SourceSpan,
    write_paragraph,
)
from headway.ext.documents.office.inline_reading import make_paragraph
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_tokens import XmlToken


class ContentReader:
    """Reads the tokens of a paragraph; those of paragraphs in it are left out.

    Args:
        opening: The opening tag of the paragraph.

    Attributes:
        start: Where the content starts in the part.
        end: Where it ends, once the paragraph is finished.
        prefix: The prefix of the paragraph's element, with a colon.
    """

    def __init__(self, opening: XmlToken) -> None:
        self.start, self.end, self.prefix = opening.end, -1, opening.prefix
        self._parts: list[InlinePart | FieldMark] = []
        self._depth, self._opened = 0, opening  # an element that is read as a whole
        self._inner: list[str] = []  # the text in it
        self._has_elements = False  # whether it has elements, too

    @property
    def is_inside(self) -> bool:
        """Whether the next token is in an element that is read as a whole, which may hold paragraphs."""
        return self._depth > 0

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""
        is_text = token.is_text
        if self._depth:
            self._depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if self._depth == 0:
                self._add(self._opened, token.end)
            elif is_text:
                self._inner.append(token.text)
            elif token.kind != "other":
                self._has_elements = True
        elif is_text:
            self._read_text(token)
        elif token.kind == "close":
            self._close(token)
        elif token.kind != "other":
            self._open(token)

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""
        if self.end < 0:
            self.end = closing.start
        return make_paragraph(join_fields(self._parts))

    def write(self, paragraph: InlineParagraph, translated: Translated, render: Render) -> str:
        """Return the content of the paragraph in its translation."""
        writer = self._make_writer(render)
        write_paragraph(paragraph, translated, writer)
        return writer.finish()

    def _make_writer(self, render: Render) -> ContentWriter:
        return ContentWriter(self.prefix, render)

    def _read_text(self, token: XmlToken) -> None:
        """Read text."""

    def _open(self, token: XmlToken) -> None:
        """Read an opening tag, or an empty element."""

    def _close(self, token: XmlToken) -> None:
        """Read a closing tag."""

    def _add(self, opening: XmlToken, end: int) -> None:
        """Add an element that is read as a whole."""

    def _read_whole(self, token: XmlToken) -> None:
        """Read an element as a whole, which the tag opens or is."""
        self._inner, self._has_elements = [], False
        if token.kind == "open":
            self._opened, self._depth = token, 1
        else:
            self._add(token, token.end)

    def _put(self, kind: PartKind, piece: SourceSpan, text: str = "", **more: Any) -> None:
        """Add a part that has one piece."""
        self._parts.append(InlinePart(kind, (piece,), text, **more))

    def _add_kept(self, piece: SourceSpan, text: str) -> None:
        """Add an element with a text that stays as it is, such as a formula or a field."""
        middle = SourceSpan(piece.end, piece.end)
        self._put("open", piece, name="kept", is_kept=True)
        self._put("text", middle, text)
        self._put("close", middle, name="kept")


ParagraphFormat = Callable[[XmlToken, str], ContentReader]  # gets the opening tag, and the part
