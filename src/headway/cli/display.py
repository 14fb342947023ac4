"""The progress of a command, on standard error."""

import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from headway.training.run import Event, Run


class ProgressBar:
    """Shows progress: a bar on a terminal, elsewhere a line of text from time to time.

    Args:
        total: How much there is to do; None: nobody knows.
        done: How much was done before.
        unit: What is counted: "lines".
        quiet: Show nothing.
    """

    SECONDS = 5.0  # between two lines of text
    WORK = "words"  # what shows how fast it goes

    def __init__(
        self, total: int | None, done: int = 0, unit: str = "lines", *, quiet: bool = False
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.total, self.before, self.unit, self.work = total, done, unit, 0
        self.console = Console(stderr=True, highlight=False, quiet=quiet, soft_wrap=True)
        columns = BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}")
        is_hidden = not self.console.is_terminal
        self.bar = Progress(*columns, console=self.console, transient=True, disable=is_hidden)
        self.task = self.bar.add_task(unit, total=total, completed=done)

    def __enter__(self) -> Self:
        self.started = self.shown = time.monotonic()
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return max(time.monotonic() - self.started, 1e-9)

    @property
    def rate(self) -> str:
        """How fast it has gone since the start."""
        return f"{self.work / self.seconds:,.0f} {self.WORK}/s"

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, markup=False)

    def move(self, done: int, text: str) -> None:
        """Show how much is done, and what is being done."""
        self.bar.update(self.task, completed=done, description=f"{self.unit}  {text}")
        now = time.monotonic()
        is_due = now - self.shown > self.SECONDS and done < (self.total or 0)
        if is_due and not self.console.is_terminal:
            self.say(f"{self.unit.removesuffix('s')} {done:,}/{self.total:,}  {text}")
            self.shown = now

    def update(self, done: int, work: int, text: str = "") -> None:
        """Show how much is done, after so many words or tokens more, how fast it goes, and the time left."""
        self.work += work
        left = ((self.total or 0) - done) * self.seconds / max(1, done - self.before)
        self.move(done, f"{text}{self.rate}  {format_duration(left)} left")


class LineProgress(ProgressBar):
    """Shows how lines are translated, and at the end how long it took."""

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        if error[0] is None:
            unit = self.unit.removesuffix("s") if self.total == 1 else self.unit
            self.say(f"{self.total:,} {unit}, {format_duration(self.seconds)}, {self.rate}")


class Display(ProgressBar):
    """Shows a training run.

    Args:
        run: The run to show.
        quiet: Show nothing.
    """

    SECONDS = 30.0
    WORK = "tokens"

    def __init__(self, run: "Run", *, quiet: bool) -> None:
        super().__init__(run.config.training.max_steps, run.step, "steps", quiet=quiet)
        self.run, self.kind = run, run.config.model.kind

    def show(self, event: "Event") -> None:
        """Show an event of the run."""
        from headway.training.run import Notice
        from headway.training.steps.trainer import StepReport
        from headway.training.validation import ValidationReport, perplexity_of

        if isinstance(event, StepReport):
            best = f"  best {self.run.state.best.headline}" if self.run.state.best else ""
            loss = f"loss {event.loss:.3f}  perplexity {perplexity_of(event.nll):.1f}{best}  "
            self.update(event.step, event.tokens, loss)
        elif isinstance(event, ValidationReport):
            what = f"average of {event.averaged}" if event.averaged > 1 else f"step {event.step}"
            scores = f"BLEU {event.bleu:.2f}  chrF {event.chrf:.2f}  "
            if self.kind != "translator":
                from headway.extension import require

                scores = require("a validation", "kinds", self.kind).describe_score(event)
            of_pairs = "".join(f"  {pair} {bleu:.2f}" for pair, bleu in event.bleu_of_pairs.items())
            self.say(f"{what}  {scores}perplexity {event.perplexity:.2f}{of_pairs}")
        elif isinstance(event, Notice):
            self.say(event.text)
        else:
            self.bar.update(self.task, description=f"{event.doing} {event.done}/{event.of}")


def format_duration(seconds: float) -> str:
    """Return a time span in seconds, minutes, or hours and minutes."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
