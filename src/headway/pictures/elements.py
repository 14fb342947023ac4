"""What a picture adds to a layout: links and shares, whose opacity is a weight, and plain lines."""

from dataclasses import dataclass

from headway.pictures.style import INK


@dataclass(frozen=True)
class Link:
    """A line from a query to a key; its opacity is the weight.

    Attributes:
        query: A token.
        key: A token.
        head: None: the weight is a mean over heads.
        weight: From 0 to 1.
    """

    query: int
    key: int
    head: int | None
    weight: float


@dataclass(frozen=True)
class Share:
    """A box behind a key: the weight that one head gives it, for one query."""

    key: int
    head: int
    weight: float


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
