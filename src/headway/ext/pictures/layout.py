"""The layout of a picture as plain data: files and the page are drawn from it.

Lengths are CSS pixels (1/96 inch), x to the right and y down. Heads, layers and tokens count from 0.
"""

from dataclasses import asdict, dataclass, field
from typing import Literal

from headway.ext.pictures.style import INK, LETTER_SIZE

Point = tuple[float, float]
Area = tuple[float, float, float, float]  # x, y, width, height
Anchor = Literal["start", "middle", "end"]
CAPTION_SIZE = 12.0


@dataclass(frozen=True)
class Label:
    """A line of text.

    Attributes:
        text: The text.
        x: The start, middle or end of the text, depending on ``anchor``.
        y: The middle of the small letters.
        size: The size of the letters.
        anchor: The part of the text that is at (x, y).
        is_pale: Whether the label is a remark beside the picture.
        is_bold: Whether the label is a heading.
        role: The purpose of the label, for tests and for readers of the data.
    """

    text: str
    x: float
    y: float
    size: float = LETTER_SIZE
    anchor: Anchor = "start"
    is_pale: bool = False
    is_bold: bool = False
    role: str = "label"


def caption(
    text: str, x: float, y: float, anchor: Anchor = "start", role: str = "caption"
) -> Label:
    """Return a small, pale label: the caption of a part, or a number beside it."""
    return Label(text, x, y, CAPTION_SIZE, anchor, is_pale=True, role=role)


@dataclass(frozen=True)
class Box:
    """A rectangle, filled or outlined or both.

    Attributes:
        x: The left edge.
        y: The top edge.
        width: The width.
        height: The height.
        fill: A color, or "cells" for the color of the picture's cells. Empty: the box is not filled.
        opacity: The opacity of the fill.
        outline: The color of the edge. Empty: no edge is drawn.
        radius: The radius of the corners.
        role: The purpose of the box.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    opacity: float = 1.0
    outline: str = ""
    radius: float = 0.0
    role: str = "box"


@dataclass(frozen=True)
class Line:
    """A line, or an arrow to its second end."""

    x1: float
    y1: float
    x2: float
    y2: float
    is_arrow: bool = False
    color: str = INK
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    role: str = "line"


@dataclass(frozen=True)
class TokenLabels:
    """The labels of all queries or of all keys, and the ends of their links.

    Attributes:
        texts: The labels, shortened to fit.
        points: The position of each label.
        anchor: The part of a label that is at its point.
        is_turned: Whether the labels are written upwards.
        size: The size of the letters.
        ports: The point at which links meet each token; empty in a picture without links.
        areas: The area of each token: a pointer in it selects the token.
    """

    texts: list[str]
    points: list[Point]
    anchor: Anchor
    is_turned: bool = False
    size: float = LETTER_SIZE
    ports: list[Point] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)


@dataclass(frozen=True)
class LinkRule:
    """The rule that says which weights become links.

    Attributes:
        least: The smallest weight that is drawn.
        width: The width of a link.
        most: The largest number of links of one query, which are the strongest ones; None: no limit.
        is_mean: Whether a link shows the mean over the chosen heads. If not, each head has its own links.
    """

    least: float
    width: float
    most: int | None = None
    is_mean: bool = False


@dataclass(frozen=True)
class MapPlace:
    """The place of a map of cells: a row for each query, a column for each key.

    Attributes:
        area: The area of the whole map.
        layer: The layer that is drawn here; None: the layer that the reader chose.
        head: The head that is drawn here; None: the mean of the heads that the reader chose.
        is_vector: Whether this is a vector, whose components have a sign, and no map of weights.
    """

    area: Area
    layer: int | None = None
    head: int | None = None
    is_vector: bool = False


@dataclass(frozen=True)
class PictureLayout:
    """The positions of everything in a picture; they do not depend on the weights.

    Attributes:
        width: The width of the picture.
        height: The height of the picture.
        labels: Captions and numbers.
        boxes: The boxes, which are drawn before everything else.
        queries: The tokens that attend; None in a picture without tokens.
        keys: The tokens that are attended to; None in a picture without tokens.
        links: The rule that says which links are drawn; None in a picture without links.
        fan: The offset of each head's links, which keeps the links of the heads apart.
        maps: The maps of cells.
        lines: Lines and arrows.
        x: The left edge.
        y: The top edge.
    """

    width: float
    height: float
    labels: list[Label] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    queries: TokenLabels | None = None
    keys: TokenLabels | None = None
    links: LinkRule | None = None
    fan: list[Point] = field(default_factory=list)
    maps: list[MapPlace] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    def link_ends(self, query: int, key: int, head: int | None) -> tuple[Point, Point]:
        """Return both ends of the line that shows one weight; None: of the mean over heads."""
        assert self.queries is not None
        assert self.keys is not None
        dx, dy = self.fan[head or 0]
        start, end = self.queries.ports[query], self.keys.ports[key]
        return (start[0] + dx, start[1] + dy), (end[0] + dx, end[1] + dy)

    def to_json(self) -> dict[str, object]:
        """Return the layout as JSON values for the page, without lines; lengths are rounded to a tenth of a pixel."""
        shown = {
            name: part for name, part in asdict(self).items() if name not in ("lines", "x", "y")
        }
        return {name: _round(part) for name, part in shown.items()} | {
            "links": self.links and asdict(self.links)
        }


def _round(value: object) -> object:
    match value:
        case dict():
            return {name: _round(part) for name, part in value.items()}
        case list() | tuple():
            return [_round(part) for part in value]
        case float():
            return round(value, 1)
    return value
