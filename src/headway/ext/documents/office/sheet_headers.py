"""Headers and footers of printed sheets (.xlsx): text with codes such as ``&L``, ``&B`` and ``&P``.

The codes are those of ECMA-376, part 1, 18.3.1.46.
"""

import html
import re
from dataclasses import dataclass

from headway.ext.documents.office.escaping import escape_text
from headway.ext.documents.office.inline import (
    InlineParagraph,
    Part,
    Piece,
    Render,
    Style,
    write_paragraph,
)
from headway.ext.documents.office.inline_reading import make_paragraph
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_tokens import XmlToken

NAMES = tuple(f"{pages}{place}" for pages in ("odd", "even", "first") for place in ("Header", "Footer"))  # fmt: skip
_MOST_CHARACTERS = 255  # a spreadsheet program calls a file with a longer header damaged
# An ampersand; a page number; where the left, middle or right part begins, or a new line; a font, color or other code.
_CODE = re.compile(
    r"(?P<ampersand>&amp;&amp;)|(?P<number>&amp;[PN])|(?P<border>&amp;[LCR]|\n|&#10;|&#xA;)"
    r'|&amp;(?:(?:"|&quot;).*?(?:"|&quot;)|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Za-z])'
)
_SIZE = re.compile(r"&amp;\d{1,2}")


class SheetHeaders:
    """The format of headers and footers."""

    def read_paragraph(self, opening: XmlToken, source: str) -> "_Reader":
        """Return a reader of the header that begins with a tag."""
        return _Reader(opening, source)

    def write_paragraph(
        self, paragraph: InlineParagraph, translated: Translated, prefix: str, render: Render
    ) -> str:
        """Return the content of a header in its translation; one that would be too long stays as it is."""
        assert isinstance(paragraph, _Header)
        writer = _Writer(render)
        write_paragraph(paragraph, translated, writer)
        written = "".join(writer.out)
        if len(html.unescape(written)) > paragraph.room:
            return render(paragraph.start, paragraph.end)
        return written


@dataclass
class _Header(InlineParagraph):
    """A header.

    Attributes:
        start: Where the text and the codes in it start in the part.
        end: Where they end.
        room: The most characters they may have.
    """

    start: int = 0
    end: int = 0
    room: int = 0


class _Reader:
    """Reads a header, which is nothing but text in XML.

    Codes before the first word and behind the last one are no part of the paragraph.
    """

    is_inside = False

    def __init__(self, opening: XmlToken, source: str) -> None:
        self._source = source
        self.start = self.end = opening.end
        self.prefix = opening.prefix
        self._parts: list[Part] = []
        self._codes: tuple[int, int] | None = None  # where codes without a word between them stand
        self._is_border = False  # whether the next part of the header begins in them

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""
        if token.kind == "text":
            self._read(token.start, token.end)

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""
        start, end = self.start, closing.start
        self.end = self._codes[0] if self._codes else end
        paragraph = make_paragraph(self._parts)
        opening = self._source.rfind(">", 0, start) + 1
        codes = self._source[opening:start] + self._source[self.end : end]
        return _Header(
            paragraph.text, paragraph.elements, paragraph.breaks, paragraph.style,
            self.start, self.end, _MOST_CHARACTERS - len(html.unescape(codes)),
        )  # fmt: skip

    def _read(self, at: int, end: int) -> None:
        for found in _CODE.finditer(self._source, at, end):
            self._add_text(at, found.start())
            at = found.end()
            if found["ampersand"]:
                self._add_text(found.start(), at, "&")
            elif found["number"]:
                self._add_number(found.start(), at)
            else:
                self._codes = (self._codes or found.span())[0], at
                self._is_border |= bool(found["border"])
        self._add_text(at, end)

    def _add_text(self, start: int, end: int, text: str | None = None) -> None:
        if start < end:
            self._add_codes()
            read = html.unescape(self._source[start:end]) if text is None else text
            self._parts.append(Part("text", (Piece(start, end),), read))

    def _add_number(self, start: int, end: int) -> None:
        """Add a page number, or the number of pages; a digit stands for it in the text."""
        self._add_codes()
        digit = "1" if self._source[end - 1] == "P" else "9"
        middle = Piece(end, end)
        self._parts += [
            Part("open", (Piece(start, end),), name="number", is_kept=True),
            Part("text", (middle,), digit),
            Part("close", (middle,), name="number"),
        ]

    def _add_codes(self) -> None:
        if not self._codes:
            return
        if self._parts:
            pieces = (Piece(*self._codes),)
            self._parts.append(Part("break", pieces) if self._is_border else Part("point", pieces))
        else:
            self.start = self._codes[1]
        self._codes, self._is_border = None, False


class _Writer:
    """Writes a header.

    Args:
        render: Returns the source of a place.
    """

    def __init__(self, render: Render) -> None:
        self._render = render
        self.out: list[str] = []

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text."""
        is_number = text[:1].isdigit() and bool(self.out) and _SIZE.fullmatch(self.out[-1])
        space = " " if is_number else ""  # the digit would be one of the size
        self.out.append(space + escape_text(text.replace("&", "&&")))

    def write_break(self, piece: Piece | None, style: Style | None) -> None:
        """Write where the next part or line begins."""
        self.out.append("\n" if piece is None else self._render(piece.start, piece.end))

    def write_piece(self, piece: Piece) -> None:
        """Write a code."""
        self.out.append(self._render(piece.start, piece.end))
