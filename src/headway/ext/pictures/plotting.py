"""Training curves of several runs in one figure; equal runs give equal bytes."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.ext.pictures.curves import SERIES, Curves, Points, read_curves
from headway.ext.pictures.drawing import check_output, drawing_settings, figure_bytes, new_figure
from headway.ext.pictures.labels import xml_text
from headway.ext.pictures.style import head_color, head_dash
from headway.files import replace_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (1152, 633.6)  # pixels
LEGEND_WIDTH = 50  # characters of a line; a longer name of a run is broken
MARKED = 40  # points; a longer curve has no marks
MOST = 400  # points that are drawn of a curve


def plot(runs: Sequence[str | Path], path: str | Path) -> None:
    """Write the figure of some run directories: ``.png``, ``.svg`` or ``.pdf``.

    Raises:
        HeadwayError: If the file name has another suffix, a directory holds no run, or matplotlib is missing.
    """
    path = check_output(path)
    replace_bytes(path, draw_curves(runs, path.suffix[1:]))


def draw_curves(paths: Sequence[str | Path], form: str = "svg") -> bytes:
    """Return the figure of some run directories.

    A curve of very many points shows the means of neighboring points. Averages of checkpoints are
    single points.

    Args:
        paths: The run directories.
        form: png, svg or pdf.
    """
    runs = [read_curves(path) for path in paths]
    with drawing_settings():
        figure = new_figure(*SIZE)
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12)
        axes = figure.subplots(2, 3).flatten()
        has = {name for run in runs for name, points in run.points.items() if points}
        left_out = "bleu" if "accuracy" in has and "bleu" not in has else "accuracy"
        shown = [name for name in SERIES if name != left_out]
        for place, name in zip(axes, shown, strict=False):
            _draw_series(place, name, runs)
        _draw_legend(axes[-1], runs)
        return figure_bytes(figure, form, "training curves")


def _draw_series(axes: "Axes", name: str, runs: Sequence[Curves]) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(SERIES[name].heading, fontsize=11, loc="left")
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("step", fontsize=9)
    axes.tick_params(labelsize=9)
    for number, run in enumerate(runs):
        points, color = _thin(run.points[name]), head_color(number)
        mark = "o" if 0 < len(points) <= MARKED else None
        axes.plot(*points.T, marker=mark, markersize=3, linewidth=1.5, color=color,
                  linestyle=(0, head_dash(number) or None))  # fmt: skip
        axes.plot(*_thin(run.averaged[name]).T, "*", markersize=11, color=color)
    if name == "speed":
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:g}" if name in ("rate", "perplexity") else "{x:,.6g}")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=6)
    values = [y for run in runs for _, y in run.points[name]]
    if name == "perplexity" and values and max(values) > 4 * min(values):
        _use_log_scale(axes)


def _use_log_scale(axes: "Axes") -> None:
    """Use a log scale, because perplexity falls from hundreds to a few."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")


def _thin(points: Points) -> NDArray[np.float64]:
    """Return at most `MOST` points, [points, 2]: means of neighboring points."""
    size = max(1, -(-len(points) // MOST))
    groups = np.split(np.reshape(points, (-1, 2)), range(size, len(points), size))
    return np.stack([group.mean(0) for group in groups]) if points else np.empty((0, 2))


def _draw_legend(axes: "Axes", runs: Sequence[Curves]) -> None:
    """Draw the legend in the sixth field: the name and the best BLEU or accuracy of each run."""
    axes.set_axis_off()
    handles, labels, names = [], [], [run.path.name for run in runs]
    for number, run in enumerate(runs):
        # Runs of the same name get their whole paths.
        name = run.path.name if names.count(run.path.name) == 1 else ""
        best = ""
        for quality, title in (("bleu", "BLEU"), ("accuracy", "accuracy")):
            if found := [value for _, value in run.points[quality] + run.averaged[quality]]:
                best = f", best {title} {max(found):.2f}"
        label = xml_text(f"{name or run.path}: {run.step:,} steps{best}")
        labels.append("\n".join(textwrap.wrap(label, LEGEND_WIDTH)))
        style = 0, head_dash(number) or None
        handles += axes.plot([], [], color=head_color(number), linestyle=style)
    if any(any(run.averaged.values()) for run in runs):
        labels.append("average of checkpoints")
        handles += axes.plot([], [], "*", markersize=10, color="#444444")
    # The name of a run may begin with _, which hides the label of a curve, and $ in it is no formula.
    legend = axes.legend(
        handles, labels, loc="center left", frameon=False, fontsize=10, handlelength=3
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
