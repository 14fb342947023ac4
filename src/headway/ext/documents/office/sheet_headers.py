"""Headers and footers of printed sheets (.xlsx): text with codes such as ``&L``, ``&B`` and ``&P``.

The codes are those of ECMA-376, part 1, 18.3.1.46.
"""

import html
import re

from headway.ext.documents.office.content_reader import ContentReader
from headway.ext.documents.office.inline import (
    ContentWriter,
    InlineParagraph,
    InlinePart,
    Render,
    SourceSpan,
    Style,
)
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_tokens import XmlToken, escape_text

NAMES = tuple(f"{pages}{place}" for pages in ("odd", "even", "first") for place in ("Header", "Footer"))  # fmt: skip
_MOST_CHARACTERS = 255  # a spreadsheet program calls a file with a longer header damaged
# An ampersand; a page number; where the left, middle or right part begins, or a new line; a font, color or other code.
_CODE = re.compile(
    r"(?P<ampersand>&amp;&amp;)|(?P<number>&amp;[PN])|(?P<border>&amp;[LCR]|\n|&#10;|&#xA;)"
    r'|&amp;(?:(?:"|&quot;).*?(?:"|&quot;)|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Za-z])'
)
_SIZE = re.compile(r"&amp;\d{1,2}")


class SheetHeaderReader(ContentReader):
    """Reads and writes a header, which is nothing but text in XML.

    Codes before the first word and behind the last one are no part of the paragraph.

    Args:
        opening: The opening tag of the header.
        source: The source of the part.
    """

    def __init__(self, opening: XmlToken, source: str) -> None:
        super().__init__(opening)
        self._source, self._room = (
            source,
            0,
        )  # the most characters that the text and the codes in it may have
        self._codes: tuple[int, int] | None = None  # where codes without a word between them stand
        self._is_border = False  # whether the next part of the header begins in them

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""
        self.end = self._codes[0] if self._codes else closing.start
        opening = self._source.rfind(">", 0, self.start) + 1
        codes = self._source[opening : self.start] + self._source[self.end : closing.start]
        self._room = _MOST_CHARACTERS - len(html.unescape(codes))
        return super().finish(closing)

    def write(self, paragraph: InlineParagraph, translated: Translated, render: Render) -> str:
        """Return the content of the header in its translation; one that would be too long stays as it is."""
        written = super().write(paragraph, translated, render)
        is_too_long = len(html.unescape(written)) > self._room
        return render(self.start, self.end) if is_too_long else written

    def _make_writer(self, render: Render) -> "_HeaderWriter":
        return _HeaderWriter(self.prefix, render)

    def _read_text(self, token: XmlToken) -> None:
        if token.kind == "text":
            self._read(token.start, token.end)

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
            self._put("text", SourceSpan(start, end), read)

    def _add_number(self, start: int, end: int) -> None:
        """Add a page number, or the number of pages; a digit stands for it in the text."""
        self._add_codes()
        self._add_kept(SourceSpan(start, end), "1" if self._source[end - 1] == "P" else "9")

    def _add_codes(self) -> None:
        if not self._codes:
            return
        if self._parts:
            pieces = (SourceSpan(*self._codes),)
            self._parts.append(
                InlinePart("break", pieces) if self._is_border else InlinePart("point", pieces)
            )
        else:
            self.start = self._codes[1]
        self._codes, self._is_border = None, False


class _HeaderWriter(ContentWriter):
    """Writes a header."""

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text."""
        is_number = text[:1].isdigit() and bool(self._out) and _SIZE.fullmatch(self._out[-1])
        space = " " if is_number else ""  # the digit would be one of the size
        self._out.append(space + escape_text(text.replace("&", "&&")))
