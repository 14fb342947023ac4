"""Training curves of several runs in one figure, by matplotlib; equal runs give equal bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.pictures.curves import SERIES, Curves, label_runs, thin
from headway.pictures.drawing import families, matplotlib, save
from headway.pictures.scene import check_name, head_colour, head_dash

INCHES = (12.0, 6.6)


def plot(runs: Sequence[Curves], path: str | Path) -> None:
    """Write the figure: ``.png``, ``.svg`` or ``.pdf``.

    Training loss and speed are means over stretches of steps where there are many. Averages of
    checkpoints are single points.

    Raises:
        HeadwayError: If the name ends otherwise, or matplotlib is missing.
    """
    path = check_name(path)
    library = matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fixed = {
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "headway",
        "font.family": families(),
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with library.rc_context(fixed):
        figure = Figure(figsize=INCHES, dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(2, 3).flatten()
        for place, name in zip(axes, SERIES, strict=False):
            _draw(place, name, runs)
        _legend(axes[-1], runs)
        save(figure, path, "training curves")


def _draw(axes: Any, name: str, runs: Sequence[Curves]) -> None:
    axes.set_title(SERIES[name], fontsize=11, loc="left")
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("step", fontsize=9)
    axes.tick_params(labelsize=9)
    for number, run in enumerate(runs):
        points, averaged = thin(run.points[name]), run.averaged[name]
        mark = "o" if 0 < len(points) <= 40 else None
        axes.plot(*_columns(points), marker=mark, markersize=3, linewidth=1.5, **_look(number))
        axes.plot(*_columns(averaged), "*", markersize=11, color=head_colour(number))
    if name == "speed":
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:g}" if name in ("rate", "perplexity") else "{x:,.6g}")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=6)
    values = [y for run in runs for _, y in run.points[name]]
    if name == "perplexity" and values and max(values) > 4 * min(values):
        # From hundreds down to five: the interesting part is small.
        from matplotlib.ticker import LogLocator, NullLocator

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter("{x:g}")


def _look(number: int) -> dict[str, Any]:
    dash = head_dash(number)
    return {"color": head_colour(number), "linestyle": (0, dash) if dash else "-"}


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _legend(axes: Any, runs: Sequence[Curves]) -> None:
    """Name the runs where there is no sixth series, with the best BLEU of each."""
    axes.set_axis_off()
    for number, (run, name) in enumerate(zip(runs, label_runs(runs), strict=True)):
        found = [bleu for _, bleu in run.points["bleu"] + run.averaged["bleu"]]
        best = f", best BLEU {max(found):.2f}" if found else ""
        axes.plot([], [], label=f"{name}: {run.step:,} steps{best}", **_look(number))
    if any(any(run.averaged.values()) for run in runs):
        axes.plot([], [], "*", markersize=10, color="#444444", label="average of checkpoints")
    axes.legend(loc="center left", frameon=False, fontsize=10, handlelength=3)
