"""A picture: a layout with the weights that are drawn in it, as an SVG, PNG or PDF file by matplotlib."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import require_packages
from headway.ext.pictures.drawing import (
    check_output,
    drawing_settings,
    figure_bytes,
    new_figure,
)
from headway.ext.pictures.layout import (
    CAPTION_SIZE,
    Box,
    Label,
    Line,
    PictureLayout,
    TokenLabels,
    caption,
)
from headway.ext.pictures.links import TokenLink
from headway.ext.pictures.style import (
    FAINTEST,
    INK,
    NEGATIVE,
    PALE,
    POSITIVE,
    head_color,
    head_dash,
)
from headway.ext.pictures.text_width import text_width
from headway.files import replace_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 16.0
LEGEND_STEP = 52.0  # from head to head in the legend
POINT = 0.75  # points in a pixel
ARROW = 7.0  # the length of an arrow's head


@dataclass(frozen=True)
class Picture:
    """A picture, which a notebook displays without a call.

    Attributes:
        title: The line above the picture.
        description: A description for readers who cannot see the picture.
        layout: The positions of everything.
        heads: The heads in the legend; empty: there is no legend.
        links: The lines between tokens.
        boxes: The boxes that show weights; they are drawn over the boxes of the layout.
        cells: The weights [rows, columns] of each of the layout's maps, from -1 to 1.
        query: The query whose label is bold; None: all labels look the same.
        legend: What the opacity means, as a line of the legend; may be empty.
    """

    title: str
    description: str
    layout: PictureLayout
    heads: Sequence[int] = ()
    links: Sequence[TokenLink] = ()
    boxes: Sequence[Box] = ()
    cells: Sequence[NDArray[np.float64]] = ()
    query: int | None = None
    legend: str = ""

    @property
    def width(self) -> float:
        """The width of the file in pixels: the layout or the title, with margins."""
        return max(self.layout.width, 1.1 * text_width(self.title, 15)) + 2 * MARGIN

    @property
    def header_height(self) -> float:
        """The height of title and legend above the layout, with the upper margin."""
        rows = -(-len(self.heads) // self._heads_a_row)
        return 44.0 + (rows + bool(self.legend)) * 16

    @property
    def height(self) -> float:
        """The height of the file in pixels."""
        return self.header_height + self.layout.height + MARGIN

    @property
    def _heads_a_row(self) -> int:
        return max(1, int((self.width - 2 * MARGIN - 40) // LEGEND_STEP))

    def header(self) -> tuple[list[Label], list[Line]]:
        """Return the title and the legend, above the layout."""
        left, top = self.layout.x, self.layout.y - self.header_height
        labels = [Label(self.title, left, top + 20, 15, is_bold=True, role="title")]
        lines: list[Line] = []
        top += 44
        if self.heads:
            labels.append(caption("head", left, top, role="legend"))
        for place, head in enumerate(self.heads):
            x = left + 40 + place % self._heads_a_row * LEGEND_STEP
            y = top + place // self._heads_a_row * 16
            dash = head_dash(head) if len(self.heads) > 1 else ()
            lines.append(
                Line(x, y, x + 24, y, color=head_color(head), width=3.0, dash=dash, role="legend")
            )
            labels.append(Label(str(head + 1), x + 29, y, CAPTION_SIZE, role="legend"))
        if self.legend:
            labels.append(caption(self.legend, left, self.layout.y - 16, role="legend"))
        return labels, lines

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
        figure = new_figure(self.width, self.height)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        left, top = self.layout.x - MARGIN, self.layout.y - self.header_height
        axes.set_xlim(left, left + self.width)
        axes.set_ylim(top + self.height, top)
        axes.set_autoscale_on(False)
        for box in [*self.layout.boxes, *self.boxes]:
            _draw_box(axes, box, self._cell_color)
        self._draw_cells(axes)
        labels, lines = self.header()
        _draw_lines(axes, list(self._link_lines()), "links")
        _draw_lines(axes, [*self.layout.lines, *lines], "lines")
        for label in [*self.layout.labels, *labels]:
            _draw_label(axes, label)
        self._draw_side(axes, self.layout.queries, "query", self.query)
        self._draw_side(axes, self.layout.keys, "key", None)
        return figure

    @property
    def _cell_color(self) -> str:
        return head_color(self.heads[0]) if len(self.heads) == 1 else INK

    def _link_lines(self) -> Iterator[Line]:
        for link in self.links:
            assert self.layout.links is not None
            start, end = self.layout.link_ends(link.query, link.key, link.head)
            head = link.head or 0
            dash = head_dash(head) if len(self.heads) > 1 else ()
            width = self.layout.links.width
            yield Line(*start, *end, False, head_color(head), width, dash, min(link.weight, 1.0))

    @staticmethod
    def _draw_side(axes: "Axes", side: TokenLabels | None, name: str, chosen: int | None) -> None:
        """Write the labels of queries or keys; a chosen one stands out."""
        if side is None:
            return
        for number, (text, (x, y)) in enumerate(zip(side.texts, side.points, strict=True)):
            is_pale, is_bold = chosen not in (None, number), chosen == number
            label = Label(text, x, y, side.size, side.anchor, is_pale, is_bold)
            _draw_label(axes, label, is_turned=side.is_turned, name=f"{name}-{number}")

    def _draw_cells(self, axes: "Axes") -> None:
        """Draw each map as an image, without smoothing."""
        from matplotlib.colors import to_rgba

        for place, weights in zip(self.layout.maps, self.cells, strict=True):
            color = self._cell_color if place.head is None else head_color(place.head)
            name: str | None = "map" if place.head is None else f"map-{place.layer}-{place.head}"
            if place.is_vector:
                color, name = POSITIVE, None
            pixels = np.where(weights[..., None] < 0, to_rgba(NEGATIVE), to_rgba(color))
            sizes = abs(weights)
            pixels[..., 3] = np.where(sizes >= FAINTEST, sizes.clip(0, 1), 0)
            x, y, width, height = place.area
            axes.imshow(
                pixels,
                extent=(x, x + width, y + height, y),
                interpolation="nearest",
                aspect="auto",
                clip_on=False,
                zorder=2,
                gid=name,
            )


def _draw_box(axes: "Axes", box: Box, cell_color: str) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    fill = cell_color if box.fill == "cells" else box.fill
    corners = f"round,rounding_size={box.radius}" if box.radius else "square"
    if box.radius == box.width / 2:
        corners = "circle"
    axes.add_patch(
        FancyBboxPatch(
            (box.x, box.y),
            box.width,
            box.height,
            boxstyle=f"{corners},pad=0",
            facecolor=to_rgba(fill, box.opacity) if fill else "none",
            edgecolor=box.outline or "none",
            linewidth=POINT if box.outline else 0,
            clip_on=False,
            zorder=1,
        )
    )


def _draw_lines(axes: "Axes", lines: Sequence[Line], name: str) -> None:
    """Draw lines and arrows, all at once: there may be a hundred thousand links."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Polygon

    if not lines:
        return
    axes.add_collection(
        LineCollection(
            [((line.x1, line.y1), (line.x2, line.y2)) for line in lines],
            colors=[to_rgba(line.color, line.opacity) for line in lines],
            linewidths=[line.width * POINT for line in lines],
            # matplotlib counts dashes in line widths.
            linestyles=[
                (0, tuple(part / line.width for part in line.dash)) if line.dash else "-"
                for line in lines
            ],
            capstyle="butt",
            clip_on=False,
            zorder=3,
            gid=name,
        ),
        autolim=False,
    )
    for line in lines:
        if line.is_arrow:
            length = math.dist((line.x1, line.y1), (line.x2, line.y2)) or 1.0
            dx, dy = (line.x2 - line.x1) / length * ARROW, (line.y2 - line.y1) / length * ARROW
            x, y = line.x2 - dx, line.y2 - dy
            corners = [(x - dy * 0.4, y + dx * 0.4), (x + dy * 0.4, y - dx * 0.4)]
            tip = Polygon(
                [(line.x2, line.y2), *corners], facecolor=line.color, linewidth=0, zorder=3
            )
            axes.add_patch(tip)


def _draw_label(
    axes: "Axes", label: Label, *, is_turned: bool = False, name: str | None = None
) -> None:
    """Write a label; ``name`` becomes its id in an SVG file."""
    down = 0.35 * label.size  # from the middle of small letters to the base line
    axes.text(
        label.x + (down if is_turned else 0),
        label.y + (0 if is_turned else down),
        label.text,
        fontsize=label.size * POINT,
        color=PALE if label.is_pale else INK,
        fontweight="bold" if label.is_bold else "normal",
        horizontalalignment={"start": "left", "middle": "center", "end": "right"}[label.anchor],
        verticalalignment="baseline",
        rotation=90 if is_turned else 0,
        rotation_mode="anchor",
        parse_math=False,
        zorder=4,
        gid=name,
    )
