"""A picture: a layout with the weights that are drawn in it, which can be written to a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.ext.pictures.drawing import (
    check_output,
    drawing_settings,
    figure_bytes,
    new_figure,
    require_matplotlib,
    write,
)
from headway.ext.pictures.layout import CAPTION_SIZE, Box, Label, Line, PictureLayout, caption
from headway.ext.pictures.links import TokenLink
from headway.ext.pictures.marks import (
    draw_box,
    draw_cells,
    draw_label,
    draw_lines,
    draw_links,
    draw_side,
)
from headway.ext.pictures.style import INK, head_color, head_dash
from headway.ext.pictures.text_width import text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN = 16.0
LEGEND_STEP = 52.0  # from head to head in the legend


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
        cells: The weights [queries, keys] of each of the layout's maps.
        query: The query whose label is bold; None: all labels look the same.
        lines: Other lines, in the layout's coordinates.
    """

    title: str
    description: str
    layout: PictureLayout
    heads: Sequence[int] = ()
    links: Sequence[TokenLink] = ()
    boxes: Sequence[Box] = ()
    cells: Sequence[NDArray[np.float64]] = ()
    query: int | None = None
    lines: Sequence[Line] = ()

    @property
    def width(self) -> float:
        """The width of the file in pixels: the layout or the title, with margins."""
        return max(self.layout.width, 1.1 * text_width(self.title, 15)) + 2 * MARGIN

    @property
    def header_height(self) -> float:
        """The height of title and legend above the layout, with the upper margin."""
        rows = -(-len(self.heads) // self._heads_a_row)
        return 44.0 + rows * 16

    @property
    def height(self) -> float:
        """The height of the file in pixels."""
        return self.header_height + self.layout.height + MARGIN

    @property
    def _heads_a_row(self) -> int:
        return max(1, int((self.width - 2 * MARGIN - 40) // LEGEND_STEP))

    def header(self) -> tuple[list[Label], list[Line]]:
        """Return the title and the legend, above the layout: their y is negative."""
        top = -self.header_height
        labels = [Label(self.title, 0, top + 20, 15, is_bold=True, role="title")]
        lines: list[Line] = []
        top += 44
        if self.heads:
            labels.append(caption("head", 0, top, role="legend"))
        for place, head in enumerate(self.heads):
            x = 40 + place % self._heads_a_row * LEGEND_STEP
            y = top + place // self._heads_a_row * 16
            dash = head_dash(head) if len(self.heads) > 1 else ()
            lines.append(Line(x, y, x + 24, y, False, head_color(head), 3.0, dash, "legend"))
            labels.append(Label(str(head + 1), x + 29, y, CAPTION_SIZE, role="legend"))
        return labels, lines

    def svg(self) -> str:
        """Return the picture as SVG; the same picture gives the same bytes.

        Raises:
            HeadwayError: If matplotlib is missing.
        """
        require_matplotlib()
        return self._to_bytes("svg").decode()

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write ``.svg``, ``.png`` or ``.pdf``.

        Raises:
            HeadwayError: If the file name has another suffix, or matplotlib is missing.
        """
        path = check_output(path)
        write(path, self._to_bytes(path.suffix[1:]))

    def _to_bytes(self, form: str) -> bytes:
        with drawing_settings():
            return figure_bytes(self._draw(), form, self.title, self.description)

    def _draw(self) -> "Figure":
        figure = new_figure(self.width, self.height)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(-MARGIN, self.width - MARGIN)
        axes.set_ylim(self.layout.height + MARGIN, -self.header_height)
        axes.set_autoscale_on(False)
        layout = self.layout
        cell_color = head_color(self.heads[0]) if len(self.heads) == 1 else INK
        for box in [*layout.boxes, *self.boxes]:
            draw_box(axes, box, cell_color)
        draw_cells(axes, layout, self.cells, cell_color)
        draw_links(axes, layout, self.links, has_dashes=len(self.heads) > 1)
        labels, lines = self.header()
        draw_lines(axes, [*self.lines, *lines])
        for label in [*layout.labels, *labels]:
            draw_label(axes, label)
        if layout.queries:
            draw_side(axes, layout.queries, "query", self.query)
        if layout.keys:
            draw_side(axes, layout.keys, "key", None)
        return figure
