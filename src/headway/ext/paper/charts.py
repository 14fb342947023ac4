"""Charts of measurements, drawn by matplotlib as SVG: curves, and means with their intervals.

matplotlib is optional. Without it a figure has no picture, and the report says so.
"""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from headway.ext.paper.results import Figure
from headway.ext.paper.verdicts import t_interval
from headway.ext.pictures import COLORS as ALL_COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Points = Sequence[tuple[float, float]]
WIDTH, HEIGHT = 7.0, 3.5  # inches
ROW = 0.22  # inches: the height of one label of `intervals`
COLORS = ALL_COLORS[:6]  # as many as DASHES
DASHES = ("-", "--", ":", "-.", (0, (1, 1)), (0, (6, 2, 1, 2, 1, 2)))


def curves(
    caption: str,
    series: Mapping[str, Points],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    marks: bool = False,
) -> Figure:
    """Draw one curve for each series.

    Args:
        caption: The figure's title.
        series: Name -> (x, y) in the order of x. Points that are not finite are left out.
        x_label: What the horizontal axis shows, with its unit.
        y_label: What the vertical axis shows, with its unit.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is logarithmic.
        marks: Whether each point gets a square.
    """
    if not has_matplotlib():
        return Figure(caption, "")
    with _canvas(caption, HEIGHT) as canvas:
        axes = canvas.subplots()
        for number, (name, points) in enumerate(series.items()):
            finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
            axes.plot(
                [x for x, _ in finite],
                [y for _, y in finite],
                label=name,
                color=COLORS[number % len(COLORS)],
                linestyle=DASHES[number % len(DASHES)],
                marker="s" if marks or len(finite) == 1 else "",
                markersize=3.5,
            )
        axes.set(
            xlabel=x_label,
            ylabel=y_label,
            xscale="log" if log_x else "linear",
            yscale="log" if log_y else "linear",
        )
        _add_legend(canvas)
        return Figure(caption, _svg(canvas, caption))


def intervals(
    caption: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    x_label: str,
    paper: Mapping[str, float],
) -> Figure:
    """Draw one row for each label: the mean of its values and the 95 % interval of the mean.

    Args:
        caption: The figure's title.
        rows: Label and one value for each seed.
        x_label: What the values are, with their unit.
        paper: Label -> the paper's value, drawn as a hollow square.
    """
    if not has_matplotlib():
        return Figure(caption, "")
    values = [0.0, *(value for _, found in rows for value in found), *paper.values()]
    # An interval of two seeds may be very wide, so that it is cut at the edge of the picture.
    room = 0.5 * (max(values) - min(values)) or 1.0
    low_edge, high_edge = min(values) - room, max(values) + room
    with _canvas(caption, 0.8 + ROW * len(rows)) as canvas:
        axes = canvas.subplots()
        for number, (label, found) in enumerate(rows):
            mean, low, high = t_interval(found)
            if math.isfinite(low):
                axes.plot([max(low, low_edge), min(high, high_edge)], [number] * 2, color=COLORS[0])
            axes.plot(mean, number, "s", color=COLORS[0], markersize=4)
            axes.plot(paper[label], number, "s", color=COLORS[1], fillstyle="none")
        axes.axvline(0, color="#767676", linewidth=0.8)
        axes.set(xlabel=x_label, xlim=(low_edge, high_edge), ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), [label for label, _ in rows])
        axes.grid(visible=False, axis="y")
        return Figure(caption, _svg(canvas, caption))


def _add_legend(canvas: "Canvas") -> None:
    """Add a legend below, of as many columns as fit into the picture."""
    for columns in (3, 2, 1):
        legend = canvas.legend(loc="outside lower center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= canvas.bbox.width:
            return
        legend.remove()


def has_matplotlib() -> bool:
    """Return whether charts can be drawn here."""
    return find_spec("matplotlib") is not None


@contextmanager
def _canvas(caption: str, height: float) -> Iterator["Canvas"]:
    """Yield an empty picture; matplotlib's own settings are the same afterwards."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(
        {
            "axes.edgecolor": "#767676",
            "axes.grid": True,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "font.size": 8.5,
            "grid.color": "#e6e6e6",
            "legend.frameon": False,
            "svg.fonttype": "none",  # text stays text, which a reader can search
            "xtick.color": "#767676",
            "ytick.color": "#767676",
            "svg.hashsalt": caption,
        }
    ):
        yield Canvas(figsize=(WIDTH, height), layout="constrained")


def _svg(canvas: "Canvas", caption: str) -> str:
    """Return the picture as text; without a date, so that equal data give equal bytes."""
    file = io.StringIO()
    canvas.savefig(file, format="svg", metadata={"Title": caption, "Date": None})
    return file.getvalue()
