"""The direction of the text in OpenDocument: pages, and what names a direction or a side."""

from headway.documents.edits import Edit
from headway.documents.office.directions import (
    AttributeTurner,
    Directions,
    Turn,
    add_attribute,
    mirror,
)
from headway.documents.xml_tokens import XmlToken, find_attributes

_MODE = Turn(":writing-mode", ("lr-tb", "lr"), ("rl-tb", "rl"))
# By the standard, "start" is the right side of text from right to left. LibreOffice takes it for the left side, and
# writes "end" for the right one, so that the side is named.
_ALIGN = mirror("fo:text-align", ("left", "start"), ("right", "end"))
_TURNS = {
    "page-layout-properties": [_MODE._replace(is_added=True)],
    "paragraph-properties": [_MODE, *_ALIGN],
    "table-properties": [_MODE, *mirror("table:align", ("left",), ("right",))],
    "table-cell-properties": [_MODE],
    "section-properties": [_MODE],
    "graphic-properties": [_MODE],
}


class OdfTurner:
    """Turns pages, paragraphs, tables and sections.

    Paragraphs whose styles name no side get one by the default styles: LibreOffice would align them left.

    Args:
        directions: See `Directions`.
    """

    def __init__(self, directions: Directions) -> None:
        self._attributes = AttributeTurner(_TURNS, directions)
        self._is_rtl = directions[1] == "rtl"
        self._is_default = False  # whether the next tag is in a default style

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        if token.name == "default-style":
            self._is_default = token.kind == "open"
        edits = self._attributes.feed(token)
        return [*edits, *self._align(token)] if self._is_rtl and self._is_default else edits

    def _align(self, token: XmlToken) -> list[Edit]:
        """Return the edit that names the side of a default style's paragraphs, if it is missing."""
        is_sided = "fo:text-align" in find_attributes(token.source)
        if token.name != "paragraph-properties" or token.kind == "close" or is_sided:
            return []
        return [add_attribute(token, "fo:text-align", "right")]
