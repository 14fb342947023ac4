"""Figures of matplotlib as SVG, PNG and PDF files; the same figure gives the same bytes."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import UsageError, require_packages
from headway.ext.pictures.labels import xml_text
from headway.ext.pictures.style import PAPER

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
        UsageError: If the file name has another suffix.
        HeadwayError: If matplotlib is missing.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the name of a picture must end in {', '.join(FORMATS)}")
    require_packages("matplotlib")
    return path


@contextmanager
def drawing_settings() -> Iterator[None]:
    """Configure matplotlib so that text stays text and files do not contain the time."""
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


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure.

    Args:
        width: In pixels.
        height: In pixels.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = width / INCH, height / INCH
    figure = Figure(figsize=size, dpi=INCH * PNG_SCALE, facecolor=PAPER)
    FigureCanvasAgg(figure)
    return figure


def figure_bytes(figure: "Figure", form: str, title: str, description: str = "") -> bytes:
    """Return a figure as "svg", "png" or "pdf", without the time and the version of matplotlib."""
    metadata: dict[str, str | None] = {"Title": title}
    if form == "svg":
        metadata |= {"Description": xml_text(description) or None, "Date": None, "Creator": None}
    elif form == "pdf":
        metadata |= {"CreationDate": None, "Creator": None, "Producer": None}
    else:
        metadata["Software"] = None
    written = io.BytesIO()
    with warnings.catch_warnings():
        # A PNG or PDF shows a box for a character that no installed font has.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(written, format=form, metadata=metadata)
    return written.getvalue()
