"""The direction of the text in OpenDocument: pages, and what names a direction or a side."""

from headway.ext.documents.office.directions import (
    AttributeDirection,
    Directed,
    Directions,
    mirror,
)
from headway.ext.documents.text_file import Edit
from headway.ext.documents.xml_tokens import XmlToken

_MODE = Directed(":writing-mode", ("lr-tb", "lr"), ("rl-tb", "rl"))
_SIDES = (("left",), ("right",))
_DIRECTED = {
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
_PARAGRAPHS = mirror("fo:text-align", ("left", "start"), ("right", "end"))
# By the standard, "start" is the right side of text from right to left. LibreOffice takes it for the left side, and
# writes "end" for the right one. So paragraphs get the side itself, which LibreOffice does not read in cells.
_ALIGNMENTS = {
    "style": _PARAGRAPHS,
    "default-style": [_PARAGRAPHS[0]._replace(is_added=True), _PARAGRAPHS[1]],
    "cell": mirror("fo:text-align", ("start", "left"), ("end", "right")),
}


class OdfDirection:
    """Turns pages, paragraphs, tables, sections, shapes, lists and notes.

    A paragraph that names no alignment takes the alignment of the default style. A default style that names none
    gets one, because LibreOffice would align text from right to left at the left.

    Args:
        directions: See `Directions`.
    """

    def __init__(self, directions: Directions) -> None:
        self._attributes = AttributeDirection(_DIRECTED, directions)
        self._alignments = {
            kind: AttributeDirection({"paragraph-properties": attributes}, directions)
            for kind, attributes in _ALIGNMENTS.items()
        }
        self._kind = "style"  # of the style to which the next properties belong
        self._has_prefix = False  # whether the part declares the prefix of an alignment

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        self._has_prefix = self._has_prefix or " xmlns:fo=" in token.source
        if token.name in ("style", "default-style") and token.kind != "close":
            self._kind = self._find_kind(token)
        return [*self._attributes.feed(token), *self._alignments[self._kind].feed(token)]

    def _find_kind(self, style: XmlToken) -> str:
        if style.attributes.get("style:family") == "table-cell":
            return "cell"
        return style.name if self._has_prefix else "style"
