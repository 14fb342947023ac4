"""Pictures as SVG, PNG and PDF, drawn by matplotlib; the same picture gives the same bytes."""

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from headway.errors import HeadwayError
from headway.pictures.labels import xml_text
from headway.pictures.layout import Box, Label, Side
from headway.pictures.picture import MARGIN, Line, Picture
from headway.pictures.style import (
    FAINTEST,
    INK,
    PALE,
    PAPER,
    SHARE_OPACITY,
    head_color,
    head_dash,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
INCH = 96.0  # pixels
POINT = 0.75  # points in a pixel
PNG_SCALE = 2  # dots of a PNG in a pixel
# The later fonts serve scripts that the first one lacks.
FONTS = (
    "DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic",
    "Noto Sans Devanagari", "Droid Sans Fallback", "WenQuanYi Zen Hei", "Arial Unicode MS",
)  # fmt: skip


def check_output(path: str | Path) -> Path:
    """Return the path of a picture that can be drawn.

    Raises:
        HeadwayError: If the name ends in no format of pictures, or matplotlib is missing.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise HeadwayError(f"{path}: the name of a picture must end in {', '.join(FORMATS)}")
    _require_matplotlib()
    return path


def _require_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise HeadwayError('drawing needs matplotlib: pip install "headway[pictures]"')


def write_picture(picture: Picture, path: str | Path) -> None:
    """Write a picture to a file.

    Raises:
        HeadwayError: As for `check_output`, or if the file cannot be written.
    """
    path = check_output(path)
    with drawing_settings():
        figure = _draw(picture)
        save_figure(figure, path, picture.title, picture.description)


def svg_text(picture: Picture) -> str:
    """Return a picture as an SVG document.

    Raises:
        HeadwayError: If matplotlib is missing.
    """
    _require_matplotlib()
    written = io.BytesIO()
    with drawing_settings():
        _save(_draw(picture), written, "svg", picture.title, picture.description)
    return written.getvalue().decode()


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Set matplotlib so that text stays text, and that files do not depend on the time."""
    import matplotlib

    with matplotlib.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "headway",
            "pdf.fonttype": 42,
            "image.composite_image": False,
            "font.family": _installed_fonts(),
        }
    ):
        yield


def _installed_fonts() -> list[str]:
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in FONTS if name in installed or name == FONTS[0]] + ["sans-serif"]


def save_figure(figure: "Figure", path: Path, title: str, description: str = "") -> None:
    """Write a figure in the format that the path's end names.

    Raises:
        HeadwayError: If the file cannot be written.
    """
    written = io.BytesIO()
    _save(figure, written, path.suffix[1:], title, description)
    try:
        path.write_bytes(written.getvalue())
    except OSError as error:
        raise HeadwayError(f"{path}: cannot be written: {error.strerror or error}") from None


def _save(figure: "Figure", file: BinaryIO, form: str, title: str, description: str) -> None:
    """Write without the time and the version of matplotlib."""
    metadata: dict[str, str | None] = {"Title": title}
    if form == "svg":
        metadata |= {"Description": xml_text(description) or None, "Date": None, "Creator": None}
    elif form == "pdf":
        metadata |= {"CreationDate": None, "Creator": None, "Producer": None}
    else:
        metadata["Software"] = None
    with warnings.catch_warnings():
        # A PNG or PDF shows a box for a character that no installed font has.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(file, format=form, metadata=metadata)


def _draw(picture: Picture) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = picture.width / INCH, picture.height / INCH
    figure = Figure(figsize=size, dpi=INCH * PNG_SCALE, facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(-MARGIN, picture.width - MARGIN)
    axes.set_ylim(picture.layout.height + MARGIN, -picture.header_height)
    axes.set_autoscale_on(False)
    layout = picture.layout
    cell_color = head_color(picture.heads[0]) if len(picture.heads) == 1 else INK
    for box in layout.boxes:
        _draw_box(axes, box, cell_color)
    for share in picture.shares:
        place = list(picture.heads).index(share.head)
        area = layout.share_area(share.key, place, len(picture.heads))
        color = head_color(share.head)
        _draw_box(axes, Box(*area, color, SHARE_OPACITY * share.weight), color)
    _draw_cells(axes, picture, cell_color)
    _draw_links(axes, picture)
    labels, lines = picture.header()
    _draw_lines(axes, [*picture.lines, *lines])
    for label in [*layout.labels, *labels]:
        _draw_label(axes, label)
    if layout.queries:
        _draw_side(axes, layout.queries, "query", picture.query)
    if layout.keys:
        _draw_side(axes, layout.keys, "key", None)
    return figure


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


def _draw_cells(axes: "Axes", picture: Picture, cell_color: str) -> None:
    """Draw each map as an image, without smoothing."""
    from matplotlib.colors import to_rgba

    for place, weights in zip(picture.layout.maps, picture.cells, strict=True):
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


def _draw_links(axes: "Axes", picture: Picture) -> None:
    """Draw all links at once: there may be a hundred thousand of them."""
    layout, has_dashes = picture.layout, len(picture.heads) > 1
    segments = [layout.link_ends(link.query, link.key, link.head or 0) for link in picture.links]
    looks = [
        (head_color(link.head or 0), link.weight, head_dash(link.head or 0) if has_dashes else ())
        for link in picture.links
    ]
    _add_segments(axes, segments, looks, [picture.link_width] * len(segments), "links")


def _draw_lines(axes: "Axes", lines: Sequence[Line]) -> None:
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


def _draw_side(axes: "Axes", side: Side, name: str, chosen: int | None) -> None:
    """Write the labels of queries or keys; a chosen one stands out."""
    for number, (text, (x, y)) in enumerate(zip(side.texts, side.points, strict=True)):
        label = Label(
            text, x, y, side.size, side.anchor, chosen not in (None, number), chosen == number, name
        )
        _draw_label(axes, label, is_turned=side.is_turned, name=f"{name}-{number}")


def _draw_label(
    axes: "Axes", label: Label, *, is_turned: bool = False, name: str | None = None
) -> None:
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
