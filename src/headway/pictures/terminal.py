"""Training curves in a terminal: dots of Braille, two by four a character."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.pictures.curves import SERIES, Curves, Points, label_runs, thin
from headway.pictures.scene import head_colour

if TYPE_CHECKING:
    from rich.text import Text

# The dots of a character, by column and by row from the top.
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
SHOWN = ("loss", "perplexity", "bleu")
MARGIN = 9  # columns of the scale


def screen(runs: Sequence[Curves], width: int, height: int) -> "Text":
    """Draw loss, validation perplexity and BLEU of all runs, one chart below the other.

    Args:
        runs: Each in a colour of its own.
        width: Columns of the terminal.
        height: Rows of it.
    """
    from rich.text import Text

    text = Text()
    for number, (run, name) in enumerate(zip(runs, label_runs(runs), strict=True)):
        latest = [
            f"{word} {run.points[series][-1][1]:{form}}"
            for word, series, form in (
                ("loss", "loss", ".3f"),
                ("perplexity", "perplexity", ".2f"),
                ("BLEU", "bleu", ".2f"),
                ("tokens/s", "speed", ",.0f"),
            )
            if run.points[series]
        ]
        state = "finished" if run.finished else f"step {run.step:,}"
        text.append(f"{name}  {state}  {'  '.join(latest)}\n", style=head_colour(number))
    last = max(run.step for run in runs)
    rows = max(2, (height - len(runs) - 1) // len(SHOWN) - 1)
    for series in SHOWN:
        columns = max(10, width - MARGIN - 1)
        lines = [thin(run.points[series], 2 * columns) for run in runs]
        text.append(f"{SERIES[series]}, steps 0 to {last:,}\n", style="bold")
        for row in chart(lines, columns, rows, last):
            for part, owner in row:
                text.append(part, style="" if owner is None else head_colour(owner))
            text.append("\n")
    return text


def chart(
    lines: Sequence[Points], columns: int, rows: int, last: float
) -> list[list[tuple[str, int | None]]]:
    """Draw several lines into one field with a scale on its left.

    Args:
        lines: Points of each; all share the axes.
        columns: Characters across.
        rows: Characters down.
        last: The step at the right end; 0 is at the left.

    Returns:
        For each row pieces of text, each with the number of the line it belongs to.
    """
    points = [point for line in lines for point in line]
    if not points:
        return [[(" " * MARGIN + "nothing yet" if not row else "", None)] for row in range(rows)]
    low, high = min(y for _, y in points), max(y for _, y in points)
    bits = [[0] * columns for _ in range(rows)]
    owner: list[list[int | None]] = [[None] * columns for _ in range(rows)]

    def place(point: tuple[float, float]) -> tuple[int, int]:
        x = min(1, point[0] / (last or 1)) * (2 * columns - 1)
        y = (high - point[1]) / (high - low or 1) * (4 * rows - 1)
        return round(x), round(y)

    for number, line in enumerate(lines):
        dots = [place(point) for point in line]
        for (x1, y1), (x2, y2) in zip(dots, dots[1:] or dots, strict=False):
            steps = max(abs(x2 - x1), abs(y2 - y1), 1)
            for i in range(steps + 1):
                x, y = x1 + round((x2 - x1) * i / steps), y1 + round((y2 - y1) * i / steps)
                bits[y // 4][x // 2] |= DOTS[x % 2][y % 4]
                owner[y // 4][x // 2] = number
    scale = {0: high, rows - 1: low}
    drawn: list[list[tuple[str, int | None]]] = []
    for row in range(rows):
        label = f"{scale[row]:.4g}" if row in scale else ""
        cells = [(chr(0x2800 + b), o) for b, o in zip(bits[row], owner[row], strict=True)]
        drawn.append([(f"{label:>{MARGIN - 1}} ", None), *cells])
    return drawn
