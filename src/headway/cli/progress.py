"""The progress of a long translation, on standard error."""

import time
from typing import TYPE_CHECKING

from headway.cli.display import format_duration, make_bar

if TYPE_CHECKING:
    from types import TracebackType


class LineProgress:
    """Shows lines, words a second and the time left: a bar on a terminal, elsewhere a line of text.

    Args:
        total: Lines of the input.
        done: Lines that were translated before.
        unit: What counts as a line.
    """

    SECONDS = 5.0  # between two lines of text

    def __init__(self, total: int, done: int, unit: str = "lines") -> None:
        self.total, self.before, self.words, self.unit = total, done, 0, unit
        self.console, self.bar = make_bar()
        self.task = self.bar.add_task(unit, total=total, completed=done)

    def __enter__(self) -> "LineProgress":
        self.started = self.shown = time.monotonic()
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        self.bar.stop()
        if kind is not None:
            return
        seconds = time.monotonic() - self.started
        rate = f"{self.words / max(seconds, 1e-9):,.0f} words/s"
        self.console.print(
            f"{self.total:,} {self.unit}, {format_duration(seconds)}, {rate}", markup=False
        )

    def update(self, done: int, words: int) -> None:
        """Show that ``done`` lines are translated, the last of them with so many source words."""
        now = time.monotonic()
        self.words += words
        seconds = max(now - self.started, 1e-9)
        left = (self.total - done) * seconds / max(1, done - self.before)
        line = f"{self.words / seconds:,.0f} words/s  {format_duration(left)} left"
        self.bar.update(self.task, completed=done, description=f"{self.unit}  {line}")
        if not self.console.is_terminal and done < self.total and now - self.shown > self.SECONDS:
            self.console.print(
                f"{self.unit.removesuffix('s')} {done:,}/{self.total:,}  {line}", markup=False
            )
            self.shown = now
