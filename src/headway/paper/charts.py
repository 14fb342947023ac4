"""Charts of measurements as scenes of plain shapes: curves over numbers, means with intervals."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from headway.paper.results import Figure, t_interval
from headway.pictures.scene import (
    INK,
    PALE,
    Line,
    Rect,
    Scene,
    Shape,
    Text,
    head_colour,
    head_dash,
    text_width,
)

Points = Sequence[tuple[float, float]]
GRID = "#e6e6e6"
WIDTH, HEIGHT = 680.0, 340.0  # of a plot's whole picture, legend apart
SMALL, ROW, MARK = 11.5, 21.0, 5.0


class Axis:
    """Numbers on a line of the picture.

    Args:
        values: All that must find a place.
        start: Pixel of the lowest.
        end: Pixel of the highest.
        log: Equal ratios are equally far apart.
    """

    def __init__(self, values: Sequence[float], start: float, end: float, log: bool) -> None:
        finite = [v for v in values if math.isfinite(v) and (v > 0 or not log)] or [1.0]
        self.log, self.start, self.end = log, start, end
        low, high = (self._scale(limit(finite)) for limit in (min, max))
        room = 0.04 * (high - low) or (abs(low) * 0.1 or 1.0)
        self.low, self.high = low - room, high + room

    def place(self, value: float) -> float:
        """Return a number's pixel."""
        share = (self._scale(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a number has a place."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return False
        return self.low <= self._scale(value) <= self.high

    def ticks(self) -> list[float]:
        """Return a few round numbers on the axis."""
        if self.log:
            exponents = range(math.floor(self.low), math.ceil(self.high) + 1)
            factors: tuple[float, ...] = (1,) if self.high - self.low > 2 else (1, 2, 5)
            step = max(1, round((self.high - self.low) / 6))
            found = [f * 10.0**e for e in exponents if e % step == 0 for f in factors]
        else:
            step_size = _round_step((self.high - self.low) / 5)
            first = math.ceil(self.low / step_size)
            count = math.floor(self.high / step_size) - first + 1
            found = [(first + i) * step_size for i in range(count)]
        return [tick for tick in found if self.holds(tick)]

    def _scale(self, value: float) -> float:
        return math.log10(value) if self.log else value


def curves(
    caption: str,
    series: Mapping[str, Points],
    x: str,
    y: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    marks: bool = False,
) -> Figure:
    """Draw curves over one axis.

    Args:
        caption: The figure's title.
        series: Name -> (x, y), in order of x; points that are not finite are left out.
        x: What the horizontal axis is, with its unit.
        y: The vertical one.
        log_x: Equal ratios are equally wide.
        log_y: Equal ratios are equally high.
        marks: Also a square at each point.
    """
    known = {
        name: [(a, b) for a, b in points if math.isfinite(a) and math.isfinite(b)]
        for name, points in series.items()
    }
    both = [point for points in known.values() for point in points]
    across = Axis([a for a, _ in both], 74, WIDTH - 16, log_x)
    up = Axis([b for _, b in both], HEIGHT - 48, 18, log_y)
    shapes = _frame(across, up, x, y)
    for number, points in enumerate(known.values()):
        colour, dash = head_colour(number), head_dash(number)
        places = [
            (across.place(a), up.place(b)) for a, b in points if across.holds(a) and up.holds(b)
        ]
        for (x1, y1), (x2, y2) in pairwise(places):
            # A dash begins anew at each point: many short pieces would each be drawn whole.
            shapes.append(Line(x1, y1, x2, y2, colour, width=1.8, dash=dash if marks else ()))
        if marks or len(places) == 1:
            shapes += [_mark(a, b, colour) for a, b in places]
    legend, height = _legend(list(known), HEIGHT)
    words = f"{y} over {x}: {', '.join(known)}"
    return Figure(caption, Scene(WIDTH, height, caption, words, [*shapes, *legend]).svg())


def intervals(
    caption: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    x: str,
    *,
    paper: Mapping[str, float] | None = None,
    zero: bool = True,
) -> Figure:
    """Draw means with their 95 % intervals, a line each; hollow squares are the paper's numbers.

    Args:
        caption: The figure's title.
        rows: Label and one value a seed.
        x: What the values are, with their unit.
        paper: Label -> the paper's value.
        zero: Draw a line at 0, which must be in the picture.
    """
    paper = paper or {}
    found = [(label, t_interval(values), values) for label, values in rows]
    shown = [value for _, _, values in found for value in values] + list(paper.values())
    # An interval of few seeds may be very wide: it is drawn up to the edge.
    spread = max(shown) - min(shown) or 1.0
    ends = [min(max(v, min(shown) - spread), max(shown) + spread) for _, i, _ in found for v in i]
    left = max(text_width(label, SMALL) for label, _ in rows) + 24
    bottom = 14 + ROW * len(rows)
    axis = Axis([*shown, *ends, *([0.0] if zero else [])], left, WIDTH - 20, log=False)
    shapes: list[Shape] = []
    for tick in axis.ticks():
        place = axis.place(tick)
        shapes.append(Line(place, 8, place, bottom, PALE if tick == 0 and zero else GRID))
        shapes.append(Text(place, bottom + 14, f"{tick:g}", SMALL, "middle", colour=PALE))
    for number, (label, (mean, low, high), _) in enumerate(found):
        y = 14 + ROW * (number + 0.5)
        shapes.append(Text(left - 10, y, label, SMALL, "end"))
        a, b = (
            min(max(axis.place(v), left), WIDTH - 20)
            for v in (_finite(low, mean), _finite(high, mean))
        )
        shapes.append(Line(a, y, b, y, head_colour(0), width=2.0))
        shapes.append(_mark(axis.place(mean), y, head_colour(0)))
        if label in paper:
            at = axis.place(paper[label]) - MARK
            shapes.append(Rect(at, y - MARK, 2 * MARK, 2 * MARK, outline=head_colour(1)))
    shapes.append(Text((left + WIDTH - 20) / 2, bottom + 34, x, SMALL, "middle"))
    words = "; ".join(f"{label}: {mean:.3g}" for label, (mean, _, _), _ in found)
    return Figure(caption, Scene(WIDTH, bottom + 48, caption, words, shapes).svg())


def _frame(across: Axis, up: Axis, x: str, y: str) -> list[Shape]:
    left, right, bottom, top = across.start, across.end, up.start, up.end
    shapes: list[Shape] = []
    for tick in across.ticks():
        place = across.place(tick)
        shapes.append(Line(place, top, place, bottom, GRID))
        shapes.append(Text(place, bottom + 13, _number(tick), SMALL, "middle", colour=PALE))
    for tick in up.ticks():
        place = up.place(tick)
        shapes.append(Line(left, place, right, place, GRID))
        shapes.append(Text(left - 6, place, _number(tick), SMALL, "end", colour=PALE))
    shapes.append(Line(left, bottom, right, bottom, PALE))
    shapes.append(Line(left, top, left, bottom, PALE))
    shapes.append(Text((left + right) / 2, bottom + 34, x, SMALL, "middle"))
    shapes.append(Text(14, (top + bottom) / 2, y, SMALL, "middle", turn=-90))
    return shapes


def _legend(names: Sequence[str], top: float) -> tuple[list[Shape], float]:
    """Return the legend below a plot, and where the picture ends."""
    shapes: list[Shape] = []
    x, y = 74.0, top + 8
    for number, name in enumerate(names):
        wide = 34 + text_width(name, SMALL) + 14
        if x + wide > WIDTH and x > 74:
            x, y = 74.0, y + 18
        colour, dash = head_colour(number), head_dash(number)
        shapes.append(Line(x, y, x + 26, y, colour, width=2.0, dash=dash))
        shapes.append(Text(x + 32, y, name, SMALL, colour=INK))
        x += wide
    return shapes, y + 18


def _mark(x: float, y: float, colour: str) -> Rect:
    return Rect(x - MARK / 2, y - MARK / 2, MARK, MARK, fill=colour, radius=1.5, name="mark")


def _finite(value: float, instead: float) -> float:
    return value if math.isfinite(value) else instead


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.4g}"


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= step * 0.999)
