"""Worksheets without a text of their own: only the side where they begin may change."""

import re
from collections.abc import Sequence

from headway.ext.documents.edits import apply_edits
from headway.ext.documents.office.directions import Directions
from headway.ext.documents.office.ooxml import TURN_SHEETS
from headway.ext.documents.office.package import Package, find_encoding
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.xml_tokens import XmlToken

_ROWS = "sheetData"
_VIEW = re.compile(r"""<(?:\w+:)?sheetView\s(?:[^<>"']|"[^"]*"|'[^']*')*>""")


class SheetViews:
    """The head of a worksheet, which says how it is shown; its rows, which may be many, are not read.

    Args:
        package: The file.
        name: Of the worksheet.
        directions: See `Directions`.
    """

    paragraphs: Sequence[Paragraph[None]] = ()

    def __init__(self, package: Package, name: str, directions: Directions) -> None:
        self._package, self._name, self._directions = package, name, directions

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the worksheet, which begins at the side where its text does."""
        data = self._package.read(self._name)
        encoding, turner = find_encoding(data), TURN_SHEETS(self._directions)
        head, *rows = data.partition(_ROWS.encode(encoding.removesuffix("-sig")))
        source = head.decode(encoding, "surrogateescape")
        edits = []
        for found in _VIEW.finditer(source):
            token = XmlToken("empty", found.start(), found[0], "sheetView")
            if not found[0].endswith("/>"):
                token = token._replace(kind="open")
            edits += turner.feed(token)
        return b"".join([apply_edits(source, edits).encode(encoding, "surrogateescape"), *rows])
