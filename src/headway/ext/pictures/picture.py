"""A picture: shapes below a title, as an SVG, PNG or PDF file by matplotlib."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import require_packages
from headway.ext.pictures.drawing import check_output, drawing_settings, figure_bytes, new_figure
from headway.ext.pictures.layout import Area, Box, Cells, Label, Line
from headway.ext.pictures.style import FAINTEST, INK, NEGATIVE, PALE
from headway.ext.pictures.text_width import text_width
from headway.files import replace_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 16.0
HEADER = 44.0  # the height of the title with the upper margin
TITLE_SIZE = 15.0
POINT = 0.75  # points in a pixel
ARROW = 7.0  # the length of an arrow's head


@dataclass
class Picture:
    """A picture, which a notebook displays without a call.

    Boxes are drawn first, then cells, lines and labels.

    Attributes:
        title: The line above the picture.
        description: A description for readers who cannot see the picture.
        area: The area of all shapes, below the title.
        boxes: The boxes.
        cells: The maps of cells.
        lines: The lines and arrows.
        labels: The labels.
    """

    title: str
    description: str
    area: Area = (0.0, 0.0, 0.0, 0.0)
    boxes: list[Box] = field(default_factory=list)
    cells: list[Cells] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    @property
    def sheet(self) -> Area:
        """The area of the file: the shapes and the title, with margins."""
        x, y, width, height = self.area
        width = max(width, 1.1 * text_width(self.title, TITLE_SIZE))
        return x - MARGIN, y - HEADER, width + 2 * MARGIN, height + HEADER + MARGIN

    def svg(self) -> str:
        """Return the picture as SVG; the same picture gives the same bytes.

        Raises:
            HeadwayError: If matplotlib is missing.
        """
        require_packages("matplotlib")
        return self._to_bytes("svg").decode()

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write ``.svg``, ``.png`` or ``.pdf``.

        Raises:
            HeadwayError: If the file name has another suffix, or matplotlib is missing.
        """
        path = check_output(path)
        replace_bytes(path, self._to_bytes(path.suffix[1:]))

    def _to_bytes(self, form: str) -> bytes:
        with drawing_settings():
            return figure_bytes(self._draw(), form, self.title, self.description)

    def _draw(self) -> "Figure":
        left, top, width, height = self.sheet
        figure = new_figure(width, height)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(left, left + width)
        axes.set_ylim(top + height, top)
        axes.set_autoscale_on(False)
        for box in self.boxes:
            _draw_box(axes, box)
        for cells in self.cells:
            _draw_cells(axes, cells)
        _draw_lines(axes, self.lines)
        title = Label(self.title, self.area[0], top + 20, TITLE_SIZE, is_bold=True)
        for label in [title, *self.labels]:
            _draw_label(axes, label)
        return figure


def _draw_box(axes: "Axes", box: Box) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = box.area
    corners = f"round,rounding_size={box.radius}" if box.radius else "square"
    if box.radius == width / 2:
        corners = "circle"
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle=f"{corners},pad=0",
            facecolor=to_rgba(box.fill, box.opacity) if box.fill else "none",
            edgecolor=box.outline or "none",
            linewidth=POINT if box.outline else 0,
            clip_on=False,
            zorder=1,
        )
    )


def _draw_cells(axes: "Axes", cells: Cells) -> None:
    """Draw a map as an image, without smoothing."""
    from matplotlib.colors import to_rgba

    colors = np.where(cells.values[..., None] < 0, to_rgba(NEGATIVE), to_rgba(cells.color))
    sizes = abs(cells.values)
    colors[..., 3] = np.where(sizes >= FAINTEST, sizes.clip(0, 1), 0)
    x, y, width, height = cells.area
    axes.imshow(
        colors,
        extent=(x, x + width, y + height, y),
        interpolation="nearest",
        aspect="auto",
        clip_on=False,
        zorder=2,
    )


def _draw_lines(axes: "Axes", lines: Sequence[Line]) -> None:
    """Draw lines and arrows, all at once: there may be a hundred thousand links."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Polygon

    collection = LineCollection(
        [(line.start, line.end) for line in lines],
        colors=[to_rgba(line.color, line.opacity) for line in lines],
        linewidths=[line.width * POINT for line in lines],
        # matplotlib counts dashes in line widths.
        linestyles=[(0, tuple(part / line.width for part in line.dash) or None) for line in lines],
        capstyle="butt",
        clip_on=False,
        zorder=3,
        gid="lines",
    )
    axes.add_collection(collection, autolim=False)
    for line in lines:
        if line.is_arrow:
            start, tip = np.array(line.start), np.array(line.end)
            along = (tip - start) / np.linalg.norm(tip - start) * ARROW
            aside = along[::-1] * (-0.4, 0.4)
            corners = [tip, tip - along + aside, tip - along - aside]
            axes.add_patch(Polygon(corners, facecolor=line.color, linewidth=0, zorder=3))


def _draw_label(axes: "Axes", label: Label) -> None:
    down = 0.35 * label.size  # from the middle of small letters to the base line
    axes.text(
        label.x + (down if label.is_turned else 0),
        label.y + (0 if label.is_turned else down),
        label.text,
        fontsize=label.size * POINT,
        color=PALE if label.is_pale else INK,
        fontweight="bold" if label.is_bold else "normal",
        horizontalalignment={"start": "left", "middle": "center", "end": "right"}[label.anchor],
        verticalalignment="baseline",
        rotation=90 if label.is_turned else 0,
        rotation_mode="anchor",
        parse_math=False,
        zorder=4,
    )
