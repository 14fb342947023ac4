"""The display of a training run, on standard error."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from headway.training.run import Event, Run


class Display:
    """Shows progress: a bar on a terminal, elsewhere a line every thirty seconds.

    Args:
        run: The run to show.
        quiet: Show nothing.
    """

    SECONDS = 30.0  # between two lines

    def __init__(self, run: "Run", *, quiet: bool) -> None:
        self.run, self.quiet = run, quiet
        self.settings = run.config.training
        self.console, self.bar = make_bar(quiet=quiet)
        self.task = self.bar.add_task("", total=self.settings.max_steps, completed=run.step)
        self.kind = run.config.model.kind
        self.rate, self.seconds_a_step = 0.0, 0.0
        self.clock = self.shown = 0.0

    def __enter__(self) -> "Display":
        self.clock = self.shown = time.monotonic()
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, markup=False)

    def show(self, event: "Event") -> None:
        """Show an event of the run."""
        from headway.training.run import Notice
        from headway.training.steps.trainer import StepReport
        from headway.training.validation import ValidationReport, perplexity_of

        now = time.monotonic()
        if isinstance(event, StepReport):
            self._measure(event.tokens, now - self.clock)
            left = (self.settings.max_steps - event.step) * self.seconds_a_step
            best = f"  best {self.run.state.best.headline}" if self.run.state.best else ""
            line = (
                f"loss {event.loss:.3f}  perplexity {perplexity_of(event.nll):.1f}{best}"
                f"  {self.rate:,.0f} tokens/s  {format_duration(left)} left"
            )
            self.bar.update(self.task, completed=event.step, description=line)
            if not self.console.is_terminal and now - self.shown > self.SECONDS:
                self.say(f"step {event.step}/{self.settings.max_steps}  {line}")
                self.shown = now
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
        self.clock = time.monotonic()

    def _measure(self, tokens: int, seconds: float) -> None:
        """Update the moving averages, which cover about the last twenty steps."""
        weight = 0.05 if self.rate else 1.0
        self.seconds_a_step += weight * (seconds - self.seconds_a_step)
        self.rate += weight * (tokens / seconds - self.rate)


def make_bar(*, quiet: bool = False) -> "tuple[Console, Progress]":
    """Make a console on standard error, and a progress bar that only a terminal shows."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True, highlight=False, quiet=quiet, soft_wrap=True)
    columns = BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}")
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    return console, bar


def format_duration(seconds: float) -> str:
    """Return a time span in seconds, minutes, or hours and minutes."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
