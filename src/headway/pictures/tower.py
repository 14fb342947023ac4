"""A column of boxes with residual lines, as in the paper's Figure 1, built from the bottom up.

Towers grow from y = 0, so y is negative until a scene is made.
"""

from dataclasses import dataclass, field

from headway.pictures.scene import INK, PALE, Line, Rect, Shape, Text, text_width

WIDE = 196.0  # of a box
HIGH = 38.0
LOW = 22.0  # of a box with one word
GAP = 10.0
BRANCH = 26.0  # from an incoming line to a box
COLOURS = {
    "embedding": "#fbdde2",
    "attention": "#fde3be",
    "norm": "#f3f5c4",
    "feed": "#c6e9f7",
    "linear": "#dde0f1",
    "softmax": "#cfe9cd",
    "stack": "#f4f4f4",
}


@dataclass
class Tower:
    """A column of boxes, built from the bottom up.

    Attributes:
        x: Its middle.
        side: -1 if residual lines pass on the left, 1 on the right.
        y: Where the line that goes up has come to.
        shapes: What has been drawn.
    """

    x: float
    side: int
    y: float = 0.0
    shapes: list[Shape] = field(default_factory=list)

    def up(self, by: float, *, arrow: bool = False) -> None:
        """Draw the line further up."""
        self.shapes.append(Line(self.x, self.y, self.x, self.y - by, arrow=arrow))
        self.y -= by

    def box(self, label: str, detail: str, colour: str, high: float = HIGH) -> float:
        """Put a box on top; returns the height of its middle."""
        self.y -= high
        self.shapes += boxed(self.x - WIDE / 2, self.y, WIDE, high, label, detail, COLOURS[colour])
        return self.y + high / 2

    def sublayer(
        self, label: str, detail: str, colour: str, *, pre: bool, inputs: str = "one"
    ) -> float:
        """Add a sub-layer with its residual and layer norm; returns the bottom of its box.

        ``inputs``: "one" arrow, "three" for queries, keys and values, or "query" alone, on the
        outer side, where a memory gives the other two.
        """
        self.up(GAP)
        branch = self.y
        if pre:
            self.up(GAP, arrow=True)
            self.box("Layer norm", "", "norm", LOW)
        bottom = self.y - BRANCH
        self._feed(inputs, bottom)
        self.y = bottom
        self.box(label, detail, colour)
        self.up(GAP)
        middle = self.box("Add" if pre else "Add & layer norm", "", "norm", LOW)
        edge = self.x + self.side * WIDE / 2
        out = edge + self.side * 14
        self.shapes += [
            Line(self.x, branch, out, branch),
            Line(out, branch, out, middle),
            Line(out, middle, edge, middle, arrow=True),
        ]
        return bottom

    def _feed(self, inputs: str, bottom: float) -> None:
        if inputs == "one":
            self.shapes.append(Line(self.x, self.y, self.x, bottom, arrow=True))
            return
        fork = self.y - BRANCH / 2
        self.shapes.append(Line(self.x, self.y, self.x, fork))
        places = (-WIDE / 4, 0.0, WIDE / 4) if inputs == "three" else (self.side * WIDE / 4,)
        for place in places:
            end = self.x + place
            self.shapes.append(Line(self.x, fork, end, fork))
            self.shapes.append(Line(end, fork, end, bottom, arrow=True))


def boxed(
    x: float, y: float, wide: float, high: float, label: str, detail: str, fill: str
) -> list[Shape]:
    """Draw a box with a label and, smaller, a detail; letters shrink to fit."""
    shapes: list[Shape] = [Rect(x, y, wide, high, fill, outline="#555555", radius=5, name="part")]
    lines = [(label, 13.0), (detail, 10.5)] if detail else [(label, 13.0)]
    for row, (text, size) in enumerate(lines):
        at = y + high * (row + 0.5 + (0.22 if row == 0 else -0.12) * (len(lines) - 1)) / len(lines)
        size *= min(1.0, (wide - 6) / max(text_width(text, size), 1))
        colour = PALE if row else INK
        shapes.append(
            Text(x + wide / 2, at, text, size, "middle", colour=colour, name="label")
        )  # fmt: skip
    return shapes
