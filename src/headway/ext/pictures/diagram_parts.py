"""The boxes, labels and lines of a diagram while it is put together."""

from dataclasses import dataclass, field, replace

from headway.ext.pictures.layout import Anchor, Box, Label, Line
from headway.ext.pictures.text_width import text_width

OUTLINE = "#555555"


@dataclass
class Parts:
    """The parts of a diagram, in the order of drawing.

    Attributes:
        boxes: Drawn first.
        lines: Drawn over the boxes.
        labels: Drawn last.
    """

    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, is_arrow: bool = False, role: str = ""
    ) -> None:
        """Add a line."""
        self.lines.append(Line(x1, y1, x2, y2, is_arrow, role=role or "line"))

    def arrow(self, x1: float, y1: float, x2: float, y2: float, *, role: str = "") -> None:
        """Add an arrow to the second point."""
        self.line(x1, y1, x2, y2, is_arrow=True, role=role)

    def text(self, text: str, x: float, y: float, size: float, anchor: Anchor = "middle") -> None:
        """Add a name beside the boxes."""
        self.labels.append(Label(text, x, y, size, anchor, role="name"))

    def title(self, text: str, x: float, y: float) -> None:
        """Add a heading."""
        self.labels.append(Label(text, x, y, 14, is_bold=True, role="title"))

    def note(self, text: str, x: float, y: float, size: float) -> None:
        """Add a remark."""
        self.labels.append(Label(text, x, y, size, is_pale=True, role="note"))

    def box(
        self,
        area: tuple[float, float, float, float],
        label: str,
        fill: str,
        *,
        detail: str = "",
        size: float = 12.0,
        radius: float = 4.0,
    ) -> None:
        """Add a box with a label and, smaller, a detail; their letters shrink until they fit.

        Args:
            area: The area of the box.
            label: The label; empty for one of the sheets behind another box.
            fill: The color of the box.
            detail: A second line.
            size: The size of the label's letters.
            radius: The radius of the corners.
        """
        x, y, width, height = area
        role = "part" if label else "sheet"
        self.boxes.append(Box(*area, fill, outline=OUTLINE, radius=radius, role=role))
        rows = [(label, 0.36), (detail, 0.69)] if detail else [(label, 0.5)]
        for row, (text, place) in enumerate(rows):
            letters = size if row == 0 else 10.5
            letters *= min(1.0, (width - 6) / max(text_width(text, letters), 1))
            if text:
                at = x + width / 2, y + height * place
                self.labels.append(
                    Label(text, *at, letters, "middle", is_pale=row > 0, role="label")
                )

    def add(self, other: "Parts", dx: float = 0.0, dy: float = 0.0) -> None:
        """Add the parts of another diagram, moved by (dx, dy)."""
        self.boxes += [replace(box, x=box.x + dx, y=box.y + dy) for box in other.boxes]
        self.labels += [replace(text, x=text.x + dx, y=text.y + dy) for text in other.labels]
        self.lines += [
            replace(line, x1=line.x1 + dx, y1=line.y1 + dy, x2=line.x2 + dx, y2=line.y2 + dy)
            for line in other.lines
        ]
