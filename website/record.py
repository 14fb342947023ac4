"""Record commands in a terminal as an animated picture: ``python website/record.py OUT.svg COMMAND...``.

The commands run one after the other in bash. If a command takes longer than ``LONGEST`` seconds, it is shown faster,
and the picture says by how much. It shows the last ``ROWS`` rows; its last frame is also what a printed page shows.
"""

import html
import os
import pty
import re
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple

COLUMNS, ROWS = 100, 28
LONGEST = 12.0  # seconds that the output of one command is shown
KEY = 0.04  # seconds between two keys
PAUSE = 1.5  # seconds after each command
STILL = 6.0  # seconds for which the last frame stays
STEP = 0.2  # seconds; a line changes no more often
WIDTH, HEIGHT = 8.43, 19  # pixels of a character
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STYLE = """
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dae0; white-space: pre }
.typed { fill: #ffffff; font-weight: bold }
.note { fill: #8b93a1; font-style: italic }
"""


class Row(NamedTuple):
    """What a row of the screen shows from a time on.

    Attributes:
        number: Of the row.
        seconds: When it appears.
        text: What it shows until the row changes again.
        style: A class of `STYLE`, or "".
    """

    number: int
    seconds: float
    text: str
    style: str = ""


def record(command: str) -> list[tuple[float, str]]:
    """Run a command in a terminal; return what it writes, with the seconds since its start.

    Raises:
        SystemExit: If the command fails.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    started = time.monotonic()
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": str(COLUMNS)}
    with subprocess.Popen(
        ["bash", "-c", command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        found = []
        try:
            while data := os.read(ours, 65536):
                found.append((time.monotonic() - started, data))
        except OSError:  # the other side is closed
            pass
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {command}")
    # A character may come in two parts; its second part has its time.
    text, pieces = b"", []
    for seconds, data in found:
        text += data
        try:
            pieces.append((seconds, text.decode()))
            text = b""
        except UnicodeDecodeError:
            continue
    return pieces


def draw_rows(
    commands: list[str], outputs: list[list[tuple[float, str]]]
) -> tuple[list[Row], float]:
    """Return the rows that appear on the screen, and when the recording ends, in seconds."""
    rows: list[Row] = []
    number, now = 0, 0.5
    for command, output in zip(commands, outputs, strict=True):
        for end in range(len(command) + 1):
            rows.append(Row(number, now, "$ " + command[:end], "typed"))
            now += KEY
        number += 1
        taken = output[-1][0] if output else 0.0
        faster = max(1.0, taken / LONGEST)
        line, column = "", 0
        for seconds, text in output:
            then = now + seconds / faster
            for part in re.split(r"(\n|\r)", _ESCAPE.sub("", text)):
                if part == "\r":
                    column = 0
                elif part == "\n":
                    rows.append(Row(number, then, line))
                    line, column, number = "", 0, number + 1
                elif part:
                    line = line[:column] + part + line[column + len(part) :]
                    column += len(part)
                    while len(line) > COLUMNS:
                        rows.append(Row(number, then, line[:COLUMNS]))
                        line, number = line[COLUMNS:], number + 1
                        column = len(line)
                    rows.append(Row(number, then, line))
        if line.strip():
            number += 1
        now += taken / faster
        if faster > 1:
            note = f"({taken / 60:.0f} minutes, shown {faster:.0f} times as fast)"
            rows.append(Row(number, now, note, "note"))
            number += 1
        now += PAUSE
    return rows, now


def thin_out(rows: list[Row]) -> list[tuple[Row, float | None]]:
    """Leave out rows that are replaced too soon to be seen; return each row with the time when it is replaced."""
    found: list[tuple[Row, float | None]] = []
    of_number: dict[int, list[Row]] = {}
    for row in rows:
        of_number.setdefault(row.number, []).append(row)
    for versions in of_number.values():
        kept: list[Row] = []
        for row in versions:
            if kept and row.seconds - kept[-1].seconds < (0 if row.style == "typed" else STEP):
                row = row._replace(seconds=kept.pop().seconds)
            kept.append(row)
        ends = [row.seconds for row in kept[1:]]
        found += zip(kept, [*ends, None], strict=True)
    return found


def write_svg(rows: list[tuple[Row, float | None]], seconds: float) -> str:
    """Return an animated SVG picture: each row appears at its time, and the animation repeats."""
    total = seconds + STILL
    count = max(row.number for row, _ in rows) + 1
    shown = min(count, ROWS)
    width, height = round(COLUMNS * WIDTH) + 32, shown * HEIGHT + 52
    parts, rules = [], []
    for index, (row, end) in enumerate(rows):
        text = html.escape(row.text)
        y = 44 + row.number * HEIGHT
        style = f' class="{row.style}"' if row.style else ""
        first = 100 * row.seconds / total
        last = 100.0 if end is None else 100 * end / total
        rules.append(
            f"@keyframes k{index} {{ 0%, {first:.3f}% {{ opacity: 0 }}"
            f" {first:.3f}1%, {last:.3f}% {{ opacity: 1 }}"
            + ("" if end is None else f" {last:.3f}1%, 100% {{ opacity: 0 }}")
            + " }"
        )
        still = "" if end is None else "opacity: 0; "
        parts.append(
            f'<text x="16" y="{y}"{style} style="{still}animation: k{index} {total:.2f}s step-end infinite">'
            f"{text}</text>"
        )
    appear = {row.number: row.seconds for row, _ in reversed(rows)}
    moves = [(0.0, 0), *((appear[n], n + 1 - shown) for n in sorted(appear) if n >= shown)]
    steps = (
        f"{100 * at / total:.3f}% {{ transform: translateY({-n * HEIGHT}px) }}" for at, n in moves
    )
    rules.append(f"@keyframes scroll {{ {' '.join(steps)} }}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">',
            f"<style>{STYLE}{chr(10).join(rules)}",
            f"#rows {{ transform: translateY({-moves[-1][1] * HEIGHT}px); animation: scroll {total:.2f}s step-end infinite }}",
            "@media (prefers-reduced-motion: reduce) { text, #rows { animation: none !important } }",
            "</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#1e2128"/>',
            f'<clipPath id="screen"><rect y="32" width="{width}" height="{height - 32}"/></clipPath>',
            '<g clip-path="url(#screen)"><g id="rows">',
            *parts,
            "</g></g>",
            *(
                f'<circle cx="{x}" cy="18" r="6" fill="{color}"/>'
                for x, color in ((20, "#ed6a5e"), (40, "#f4bf4f"), (60, "#61c554"))
            ),
            "</svg>",
            "",
        ]
    )


def main() -> None:
    """Record the commands and write the picture."""
    out, commands = Path(sys.argv[1]), sys.argv[2:]
    rows, seconds = draw_rows(commands, [record(command) for command in commands])
    out.write_text(write_svg(thin_out(rows), seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
