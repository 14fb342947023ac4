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
_SIDES = (("left",), ("right",))
_TURNS = {
    "page-layout-properties": [_MODE._replace(is_added=True)],
    "paragraph-properties": [_MODE],
    "table-properties": [_MODE, *mirror("table:align", *_SIDES)],
    "table-cell-properties": [_MODE],
    "section-properties": [_MODE],
    "graphic-properties": [
        _MODE,
        *mirror("draw:textarea-horizontal-align", *_SIDES),
        *mirror("style:horizontal-pos", *_SIDES),
        *mirror("style:wrap", *_SIDES),
    ],
    "list-level-properties": mirror("fo:text-align", ("start", "left"), ("end", "right")),
    "footnote-sep": mirror("style:adjustment", *_SIDES),
}
# By the standard, "start" is the right side of text from right to left. LibreOffice takes it for the left side, and
# writes "end" for the right one. So paragraphs get the side itself, which LibreOffice does not read in cells.
_PARAGRAPHS = mirror("fo:text-align", ("left", "start"), ("right", "end"))
_CELLS = mirror("fo:text-align", ("start", "left"), ("end", "right"))


class OdfTurner:
    """Turns pages, paragraphs, tables, sections, shapes, lists and notes.

    Paragraphs whose styles name no side get one by the default styles: LibreOffice would align them left.

    Args:
        directions: See `Directions`.
    """

    def __init__(self, directions: Directions) -> None:
        self._attributes = AttributeTurner(_TURNS, directions)
        self._paragraphs = AttributeTurner({"paragraph-properties": _PARAGRAPHS}, directions)
        self._cells = AttributeTurner({"paragraph-properties": _CELLS}, directions)
        self._is_rtl = directions[1] == "rtl"
        self._style: XmlToken | None = None  # the newest; properties follow it
        self._has_prefix = False  # whether a side can be added

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        self._has_prefix = self._has_prefix or " xmlns:fo=" in token.source
        if token.name in ("style", "default-style") and token.kind != "close":
            self._style = token
        edits = self._attributes.feed(token)
        if token.name == "paragraph-properties" and token.kind != "close":
            edits += self._align(token)
        return edits

    def _align(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the side of a style's paragraphs."""
        style = self._style
        if style and style.attributes.get("style:family") == "table-cell":
            return self._cells.feed(token)
        is_default = style is not None and style.name == "default-style"
        is_added = is_default and self._is_rtl and self._has_prefix
        if is_added and "fo:text-align" not in find_attributes(token.source):
            return [add_attribute(token, "fo:text-align", "right")]
        return self._paragraphs.feed(token)
