"""The shapes of a picture, and the layouts of views, as plain data: files and the page are drawn from them.

Lengths are CSS pixels (1/96 inch), x to the right and y down. Heads, layers and tokens count from 0.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
        is_turned: Whether the label is written upwards.
        role: The purpose of the label, for tests and for readers of the data.
    """

    text: str
    x: float
    y: float
    size: float = LETTER_SIZE
    anchor: Anchor = "start"
    is_pale: bool = False
    is_bold: bool = False
    is_turned: bool = False
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
        area: The area.
        fill: A color. Empty: the box is not filled.
        opacity: The opacity of the fill.
        outline: The color of the edge. Empty: no edge is drawn.
        radius: The radius of the corners.
        role: The purpose of the box.
    """

    area: Area
    fill: str = ""
    opacity: float = 1.0
    outline: str = ""
    radius: float = 0.0
    role: str = "box"


@dataclass(frozen=True)
class Line:
    """A line, or an arrow to its end."""

    start: Point
    end: Point
    is_arrow: bool = False
    color: str = INK
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


@dataclass(frozen=True)
class Cells:
    """A map of cells.

    Attributes:
        area: The area of the whole map.
        values: From -1 to 1, [rows, columns]; the opacity of a cell is the size of its value.
        color: The color of positive values.
        role: The purpose of the map.
    """

    area: Area
    values: NDArray[np.float64]
    color: str
    role: str = "map"


@dataclass(frozen=True)
class Tokens:
    """All queries or all keys, and the ends of their links.

    Attributes:
        labels: Their labels, shortened to fit.
        ports: The point at which links meet each token; empty in a view without links.
        areas: The area of each token: a pointer in it selects the token.
    """

    labels: list[Label]
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
    """

    area: Area
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class ViewLayout:
    """The positions of everything in a view; they do not depend on the weights.

    Attributes:
        width: The width of the view.
        height: The height of the view.
        labels: Captions and numbers.
        boxes: The boxes, which are drawn before everything else.
        queries: The tokens that attend; None in a view without tokens.
        keys: The tokens that are attended to; None in a view without tokens.
        links: The rule that says which links are drawn; None in a view without links.
        fan: The offset of each head's links, which keeps the links of the heads apart.
        maps: The maps of cells.
    """

    width: float
    height: float
    labels: list[Label] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    queries: Tokens | None = None
    keys: Tokens | None = None
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

    def to_json(self) -> dict[str, Any]:
        """Return the layout as JSON values for the page; lengths are rounded to a tenth of a pixel."""
        text = json.dumps(asdict(self))
        rounded: dict[str, Any] = json.loads(
            text, parse_float=lambda digits: round(float(digits), 1)
        )
        return rounded | {"links": self.links and asdict(self.links)}
