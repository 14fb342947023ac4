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
    "paragraph-properties": [_MODE],
    "table-properties": [_MODE, *mirror("table:align", ("left",), ("right",))],
    "table-cell-properties": [_MODE],
    "section-properties": [_MODE],
    "graphic-properties": [
        _MODE,
        *mirror("draw:textarea-horizontal-align", ("left",), ("right",)),
    ],
}
# Of styles whose paragraphs have sides; those of cells are mirrored with their sheet.
_FAMILIES = ("paragraph", "graphic", "presentation")


class OdfTurner:
    """Turns pages, paragraphs, tables, sections and shapes.

    Paragraphs whose styles name no side get one by the default styles: LibreOffice would align them left.

    Args:
        directions: See `Directions`.
    """

    def __init__(self, directions: Directions) -> None:
        self._attributes = AttributeTurner(_TURNS, directions)
        self._sides = AttributeTurner({"paragraph-properties": _ALIGN}, directions)
        self._is_rtl = directions[1] == "rtl"
        self._style: XmlToken | None = None  # the newest; properties follow it

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        if token.name in ("style", "default-style") and token.kind != "close":
            self._style = token
        edits = self._attributes.feed(token)
        if token.name == "paragraph-properties" and token.kind != "close":
            edits += self._align(token)
        return edits

    def _align(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the side of a style's paragraphs."""
        style = self._style
        if style is None or style.attributes.get("style:family") not in _FAMILIES:
            return []
        is_sided = "fo:text-align" in find_attributes(token.source)
        if self._is_rtl and style.name == "default-style" and not is_sided:
            return [add_attribute(token, "fo:text-align", "right")]
        return self._sides.feed(token)
