"""A column of boxes with residual lines, as in the paper's Figure 1, built from the bottom up.

The column starts at y = 0 and grows upwards: its y is negative.
"""

from dataclasses import dataclass, field
from typing import Literal

from headway.ext.pictures.diagram_parts import Parts

WIDTH = 196.0  # of a box
HEIGHT = 38.0
LOW = 22.0  # the height of a box with one line of text
GAP = 10.0
BRANCH = 26.0  # from an incoming line to a box
COLORS = {
    "embedding": "#fbdde2",
    "attention": "#fde3be",
    "norm": "#f3f5c4",
    "feed": "#c6e9f7",
    "linear": "#dde0f1",
    "softmax": "#cfe9cd",
    "stack": "#f4f4f4",
}
Inputs = Literal["one", "three", "query"]


@dataclass
class BoxColumn:
    """A column of boxes, built from the bottom up.

    Attributes:
        x: The middle of the column.
        side: -1 if residual lines pass on the left, 1 on the right.
        y: The upper end of the column so far.
        parts: The column so far.
    """

    x: float
    side: int
    y: float = 0.0
    parts: Parts = field(default_factory=Parts)

    def extend(self, by: float, *, is_arrow: bool = False) -> None:
        """Extend the line on top of the column."""
        self.parts.line(self.x, self.y, self.x, self.y - by, is_arrow=is_arrow)
        self.y -= by

    def box(self, label: str, detail: str, color: str, height: float = HEIGHT) -> float:
        """Put a box on top; return the y of its middle."""
        self.y -= height
        area = self.x - WIDTH / 2, self.y, WIDTH, height
        self.parts.box(area, label, COLORS[color], detail=detail, size=13, radius=5)
        return self.y + height / 2

    def sublayer(
        self, label: str, detail: str, color: str, *, is_pre_norm: bool, inputs: Inputs = "one"
    ) -> float:
        """Add a sub-layer with its residual connection and layer norm.

        Args:
            label: The label of its box.
            detail: The second line in its box.
            color: A name of `COLORS`.
            is_pre_norm: Whether the layer norm stands before the sub-layer.
            inputs: The arrows into the box: "one", "three" for queries, keys and values, or
                "query" alone, on the outer side, where the memory gives keys and values.

        Returns:
            The y of the bottom of its box.
        """
        self.extend(GAP)
        branch = self.y
        if is_pre_norm:
            self.extend(GAP, is_arrow=True)
            self.box("Layer norm", "", "norm", LOW)
        bottom = self.y - BRANCH
        self._add_inputs(inputs, bottom)
        self.y = bottom
        self.box(label, detail, color)
        self.extend(GAP)
        middle = self.box("Add" if is_pre_norm else "Add & layer norm", "", "norm", LOW)
        edge = self.x + self.side * WIDTH / 2
        out = edge + self.side * 14
        self.parts.line(self.x, branch, out, branch)
        self.parts.line(out, branch, out, middle)
        self.parts.arrow(out, middle, edge, middle)
        return bottom

    def _add_inputs(self, inputs: Inputs, bottom: float) -> None:
        if inputs == "one":
            self.parts.arrow(self.x, self.y, self.x, bottom)
            return
        fork = self.y - BRANCH / 2
        self.parts.line(self.x, self.y, self.x, fork)
        places = (-WIDTH / 4, 0.0, WIDTH / 4) if inputs == "three" else (self.side * WIDTH / 4,)
        for place in places:
            end = self.x + place
            self.parts.line(self.x, fork, end, fork)
            self.parts.arrow(end, fork, end, bottom)
