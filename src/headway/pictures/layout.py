"""Where the parts of a picture are, as plain data: files and the page are drawn from it.

Lengths are CSS pixels (1/96 inch), x to the right and y down. Heads, layers and tokens count from 0.
"""

from dataclasses import asdict, dataclass, field
from typing import Literal

from headway.pictures.style import INK, LETTER_SIZE

Point = tuple[float, float]
Area = tuple[float, float, float, float]  # x, y, width, height
Anchor = Literal["start", "middle", "end"]
CAPTION_SIZE = 11.0


@dataclass(frozen=True)
class Label:
    """A line of text.

    Attributes:
        text: What it says.
        x: Of its start, middle or end, as ``anchor`` says.
        y: Half the height of its small letters.
        size: Of its letters.
        anchor: Which part of the text stands at (x, y).
        is_pale: Whether it is a remark beside the picture.
        is_bold: Whether it is a heading.
        role: What it is, for tests and for readers of the data.
    """

    text: str
    x: float
    y: float
    size: float = LETTER_SIZE
    anchor: Anchor = "start"
    is_pale: bool = False
    is_bold: bool = False
    role: str = "label"


@dataclass(frozen=True)
class Box:
    """A rectangle, filled or outlined or both; an empty color draws nothing.

    Attributes:
        x: Of its left side.
        y: Of its top.
        width: From left to right.
        height: From top to bottom.
        fill: A color, or "cells" for the color of the picture's cells.
        opacity: Of the filling.
        outline: The color of the edge.
        radius: Of the corners.
        role: What it is.
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
    """A line of a diagram or a legend, or an arrow to its second end."""

    x1: float
    y1: float
    x2: float
    y2: float
    is_arrow: bool = False
    color: str = INK
    width: float = 1.0
    dash: tuple[float, ...] = ()
    role: str = "line"


@dataclass(frozen=True)
class Side:
    """The labels of all queries or of all keys, and where their links end.

    Attributes:
        texts: The labels, cut to `LONGEST_LABEL`.
        points: Where each label's ``anchor`` stands.
        anchor: Which part of a label stands at its point.
        is_turned: Whether the labels run upwards.
        size: Of the letters.
        ports: Where links meet each token; empty in a picture without links.
        areas: What belongs to each token: a pointer in it means the token.
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
    """Which weights become links, and how wide these are.

    Attributes:
        least: The smallest weight that is drawn.
        width: Of the links.
        most: The number of keys that one query is linked to, the strongest; None: all.
        is_mean: Whether a link shows the mean over the chosen heads; else each head has its own links.
    """

    least: float
    width: float
    most: int | None = None
    is_mean: bool = False


@dataclass(frozen=True)
class MapPlace:
    """Where weights are drawn as cells: a row for each query, a column for each key.

    Attributes:
        area: Of the whole map.
        layer: The layer that is drawn here; None: the layer that the reader chose.
        head: The head that is drawn here; None: the mean of the heads that the reader chose.
    """

    area: Area
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Layout:
    """The places of everything that does not depend on the weights.

    Attributes:
        width: Of the picture.
        height: Of the picture.
        labels: Captions and numbers.
        boxes: Drawn before everything else.
        queries: The tokens that attend; None in a picture without them.
        keys: The tokens that are attended to.
        links: Which links are drawn; None in a picture without links.
        fan: How far the links of each head are moved, so that heads run side by side.
        maps: The maps of cells.
    """

    width: float
    height: float
    labels: list[Label] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    queries: Side | None = None
    keys: Side | None = None
    links: LinkRule | None = None
    fan: list[Point] = field(default_factory=list)
    maps: list[MapPlace] = field(default_factory=list)

    def link_ends(self, query: int, key: int, head: int | None) -> tuple[Point, Point]:
        """Return both ends of the line that shows one weight; None: of the mean over heads."""
        assert self.queries is not None
        assert self.keys is not None
        dx, dy = self.fan[head or 0]
        start, end = self.queries.ports[query], self.keys.ports[key]
        return (start[0] + dx, start[1] + dy), (end[0] + dx, end[1] + dy)

    def to_json(self) -> dict[str, object]:
        """Return JSON values, lengths rounded to a tenth of a pixel."""
        values = {name: _round(part) for name, part in asdict(self).items() if name != "links"}
        return values | {"links": self.links and asdict(self.links)}


def _round(value: object) -> object:
    match value:
        case dict():
            return {name: _round(part) for name, part in value.items()}
        case list() | tuple():
            return [_round(part) for part in value]
        case float():
            return round(value, 1)
    return value
