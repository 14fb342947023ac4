"""The marks of a picture as matplotlib artists: boxes, cells, links, lines and labels."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.ext.pictures.layout import Box, Label, Line, PictureLayout, TokenLabels
from headway.ext.pictures.links import TokenLink
from headway.ext.pictures.style import FAINTEST, INK, PALE, head_color, head_dash

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINT = 0.75  # points in a pixel


def draw_box(axes: "Axes", box: Box, cell_color: str) -> None:
    """Draw a box."""
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


def draw_cells(
    axes: "Axes", layout: PictureLayout, cells: Sequence[NDArray[np.float64]], cell_color: str
) -> None:
    """Draw each map as an image, without smoothing."""
    from matplotlib.colors import to_rgba

    for place, weights in zip(layout.maps, cells, strict=True):
        color = cell_color if place.head is None else head_color(place.head)
        pixels = np.broadcast_to(to_rgba(color), (*weights.shape, 4)).copy()
        pixels[..., 3] = np.where(weights >= FAINTEST, weights.clip(0, 1), 0)
        x, y, width, height = place.area
        axes.imshow(
            pixels,
            extent=(x, x + width, y + height, y),
            interpolation="nearest",
            aspect="auto",
            clip_on=False,
            zorder=2,
            gid="map" if place.head is None else f"map-{place.layer}-{place.head}",
        )


def draw_links(
    axes: "Axes", layout: PictureLayout, links: Sequence[TokenLink], *, has_dashes: bool
) -> None:
    """Draw all links at once: there may be a hundred thousand of them."""
    if layout.links is None:
        return
    segments = [layout.link_ends(link.query, link.key, link.head) for link in links]
    looks = [
        (head_color(link.head or 0), link.weight, head_dash(link.head or 0) if has_dashes else ())
        for link in links
    ]
    _add_segments(axes, segments, looks, [layout.links.width] * len(links), "links")


def draw_lines(axes: "Axes", lines: Sequence[Line]) -> None:
    """Draw lines and arrows."""
    from matplotlib.patches import Polygon

    segments = [((line.x1, line.y1), (line.x2, line.y2)) for line in lines]
    looks = [(line.color, 1.0, line.dash) for line in lines]
    _add_segments(axes, segments, looks, [line.width for line in lines], "lines")
    for line in lines:
        if line.is_arrow:
            head = Polygon(_arrow_head(line), facecolor=line.color, linewidth=0, zorder=3)
            axes.add_patch(head)


def _add_segments(
    axes: "Axes",
    segments: Sequence[tuple[tuple[float, float], tuple[float, float]]],
    looks: Sequence[tuple[str, float, tuple[float, ...]]],
    widths: Sequence[float],
    name: str,
) -> None:
    """Add lines; ``looks`` has the color, opacity and dashes of each."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    if not segments:
        return
    axes.add_collection(
        LineCollection(
            segments,
            colors=[to_rgba(color, min(opacity, 1.0)) for color, opacity, _ in looks],
            linewidths=[width * POINT for width in widths],
            # matplotlib counts dashes in line widths.
            linestyles=[
                (0, tuple(part / width for part in dash)) if dash else "-"
                for (_, _, dash), width in zip(looks, widths, strict=True)
            ],
            capstyle="butt",
            clip_on=False,
            zorder=3,
            gid=name,
        ),
        autolim=False,
    )


def _arrow_head(line: Line, length: float = 7.0) -> list[tuple[float, float]]:
    dx, dy = line.x2 - line.x1, line.y2 - line.y1
    size = math.hypot(dx, dy) or 1.0
    dx, dy = dx / size * length, dy / size * length
    x, y = line.x2 - dx, line.y2 - dy
    return [(line.x2, line.y2), (x - dy * 0.4, y + dx * 0.4), (x + dy * 0.4, y - dx * 0.4)]


def draw_side(axes: "Axes", side: TokenLabels, name: str, chosen: int | None) -> None:
    """Write the labels of queries or keys; a chosen one stands out."""
    for number, (text, (x, y)) in enumerate(zip(side.texts, side.points, strict=True)):
        label = Label(
            text, x, y, side.size, side.anchor, chosen not in (None, number), chosen == number, name
        )
        draw_label(axes, label, is_turned=side.is_turned, name=f"{name}-{number}")


def draw_label(
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
