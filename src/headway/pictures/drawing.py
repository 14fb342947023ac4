"""Scenes as PNG and PDF, drawn by matplotlib; equal scenes give equal bytes."""

import warnings
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.pictures.scene import FAINTEST, PAPER, Cells, Line, Rect, Scene, Text
from headway.pictures.svg import arrow_head

INCH = 96.0  # pixels
POINT = 0.75  # points in a pixel
FINE = 2  # dots of a PNG in a pixel
# For scripts that the first family lacks, whichever of these are installed.
FAMILIES = (
    "DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic",
    "Noto Sans Devanagari", "Droid Sans Fallback", "WenQuanYi Zen Hei", "Arial Unicode MS",
)  # fmt: skip


def matplotlib() -> Any:
    """Return matplotlib.

    Raises:
        HeadwayError: If it is missing.
    """
    try:
        import matplotlib as library
    except ImportError:
        raise HeadwayError(
            'PNG and PDF need matplotlib: pip install "headway[pictures]", or write .svg'
        ) from None
    return library


def draw(scene: Scene, path: Path) -> None:
    """Write a scene as ``.png`` or ``.pdf``, by the name's end."""
    library = matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with library.rc_context({"pdf.fonttype": 42, "font.family": families()}):
        figure = Figure(figsize=(scene.width / INCH, scene.height / INCH), dpi=INCH * FINE)
        FigureCanvasAgg(figure)
        figure.patch.set_facecolor(PAPER)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0, scene.width)
        axes.set_ylim(scene.height, 0)
        axes.set_autoscale_on(False)
        depth = 0
        # Lines in a row are drawn at once: there may be a hundred thousand of them.
        for lines, group in groupby(scene.shapes, lambda shape: isinstance(shape, Line)):
            depth += 1
            if lines:
                _lines(axes, [shape for shape in group if isinstance(shape, Line)], depth)
                continue
            for shape in group:
                match shape:
                    case Rect():
                        _rect(axes, shape, depth)
                    case Text():
                        _text(axes, shape, depth)
                    case Cells():
                        _cells(axes, shape, depth)
                depth += 1
        save(figure, path, scene.title)


def save(figure: Any, path: Path, title: str) -> None:
    """Write a figure without the time and the version of what wrote it."""
    metadata: dict[str, str | None] = {"Title": title}
    if path.suffix == ".pdf":
        metadata |= {"CreationDate": None, "Creator": None, "Producer": None}
    elif path.suffix == ".svg":
        metadata |= {"Date": None, "Creator": None}
    else:
        metadata["Software"] = None
    with warnings.catch_warnings():
        # A character that no installed font has is drawn as a box, which says it well enough.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(path, metadata=metadata)


def families() -> list[str]:
    """Return those of the families that are installed, the first of them in any case."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in FAMILIES if name in installed or name == FAMILIES[0]]


def _lines(axes: Any, lines: Sequence[Line], depth: int) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Polygon

    axes.add_collection(
        LineCollection(
            [((line.x1, line.y1), (line.x2, line.y2)) for line in lines],
            colors=[to_rgba(line.colour, min(max(line.opacity, 0), 1)) for line in lines],
            linewidths=[line.width * POINT for line in lines],
            # Dashes are counted in widths here.
            linestyles=[
                (0, tuple(part / line.width for part in line.dash)) if line.dash else "-"
                for line in lines
            ],
            capstyle="butt",
            zorder=depth,
        ),
        autolim=False,
    )
    for line in lines:
        if line.arrow:
            axes.add_patch(
                Polygon(arrow_head(line), facecolor=line.colour, linewidth=0, zorder=depth)
            )


def _rect(axes: Any, rect: Rect, depth: int) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    corners = f"round,rounding_size={rect.radius}" if rect.radius else "square"
    axes.add_patch(
        FancyBboxPatch(
            (rect.x, rect.y),
            rect.width,
            rect.height,
            boxstyle=f"{corners},pad=0",
            facecolor=to_rgba(rect.fill, min(max(rect.opacity, 0), 1)) if rect.fill else "none",
            edgecolor=rect.outline or "none",
            linewidth=POINT if rect.outline else 0,
            zorder=depth,
        )
    )


def _text(axes: Any, text: Text, depth: int) -> None:
    angle = np.deg2rad(text.turn)
    down = 0.35 * text.size  # from the middle of small letters to the base line
    axes.text(
        text.x - np.sin(angle) * down,
        text.y + np.cos(angle) * down,
        text.text,
        fontsize=text.size * POINT,
        color=text.colour,
        fontweight="bold" if text.bold else "normal",
        horizontalalignment={"start": "left", "middle": "center", "end": "right"}[text.anchor],
        verticalalignment="baseline",
        rotation=-text.turn,
        rotation_mode="anchor",
        parse_math=False,
        zorder=depth,
    )


def _cells(axes: Any, cells: Cells, depth: int) -> None:
    from matplotlib.colors import to_rgba

    rows, columns = cells.weights.shape
    colours = np.broadcast_to(to_rgba(cells.fill), (rows, columns, 4)).copy()
    colours[..., 3] = np.where(cells.weights >= FAINTEST, cells.weights.clip(0, 1), 0)
    right, bottom = cells.x + columns * cells.cell, cells.y + rows * cells.cell
    axes.imshow(
        colours,
        extent=(cells.x, right, bottom, cells.y),
        interpolation="nearest",
        aspect="auto",
        zorder=depth,
    )
