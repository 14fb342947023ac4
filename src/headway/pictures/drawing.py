"""Pictures as SVG, PNG and PDF, drawn by matplotlib; the same picture gives the same bytes."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from headway.errors import HeadwayError
from headway.pictures.labels import xml_text
from headway.pictures.layout import Box
from headway.pictures.marks import (
    draw_box,
    draw_cells,
    draw_label,
    draw_lines,
    draw_links,
    draw_side,
)
from headway.pictures.picture import MARGIN, Picture
from headway.pictures.style import INK, PAPER, SHARE_OPACITY, head_color

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
INCH = 96.0  # pixels
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
        draw_box(axes, box, cell_color)
    for share in picture.shares:
        place = list(picture.heads).index(share.head)
        area = layout.share_area(share.key, place, len(picture.heads))
        color = head_color(share.head)
        draw_box(axes, Box(*area, color, SHARE_OPACITY * share.weight), color)
    draw_cells(axes, picture, cell_color)
    draw_links(axes, picture)
    labels, lines = picture.header()
    draw_lines(axes, [*picture.lines, *lines])
    for label in [*layout.labels, *labels]:
        draw_label(axes, label)
    if layout.queries:
        draw_side(axes, layout.queries, "query", picture.query)
    if layout.keys:
        draw_side(axes, layout.keys, "key", None)
    return figure
