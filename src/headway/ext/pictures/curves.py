"""The curves of a training run: series of points, read from its logs."""

import json
import operator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.translation import read_config

METRICS, TIMINGS = "metrics.jsonl", "timings.jsonl"
Points = list[tuple[float, float]]  # step and value


class Series(NamedTuple):
    """Where a series is in the logs.

    Attributes:
        heading: Its heading, with its unit.
        file: The log.
        event: The event that has a value.
        field: The field of the value.
    """

    heading: str
    file: str
    event: str
    field: str


SERIES = {
    "loss": Series("training loss, nats per token", METRICS, "step", "loss"),
    "perplexity": Series("validation perplexity", METRICS, "validation", "perplexity"),
    "bleu": Series("validation BLEU", METRICS, "validation", "bleu"),
    "accuracy": Series("validation accuracy, %", METRICS, "validation", "accuracy"),
    "rate": Series("learning rate", METRICS, "step", "rate"),
    "speed": Series("tokens per second", TIMINGS, "steps", "tokens_per_second"),
}
# The series that only one kind of model has; the log has 0 for the others.
ONLY = {"bleu": "translator", "accuracy": "classifier"}


@dataclass(frozen=True)
class Curves:
    """The series of one run, which may still be training.

    Attributes:
        path: The run directory.
        points: The points (step, value) of each series.
        averaged: The points of models that are averages of checkpoints; no line joins them.
    """

    path: Path
    points: dict[str, Points]
    averaged: dict[str, Points]

    @property
    def step(self) -> int:
        """The last step."""
        return int(self.points["loss"][-1][0]) if self.points["loss"] else 0


def read_curves(path: str | Path) -> Curves:
    """Read the series of a run.

    Raises:
        HeadwayError: If the directory holds no run, or its log is damaged.
    """
    path = Path(path)
    if not (path / METRICS).is_file():
        raise HeadwayError(f"{path}: no {METRICS}: give the directory of a training run")
    kind = read_config(path).config.model.kind
    found = Curves(path, {name: [] for name in SERIES}, {name: [] for name in SERIES})
    for file in (METRICS, TIMINGS):
        text = (path / file).read_bytes() if (path / file).is_file() else b""
        # A training that runs now may have written only a part of the last line.
        for number, line in enumerate(text[: text.rfind(b"\n") + 1].splitlines(), 1):
            try:
                values = json.loads(line)
                is_averaged = values.get("averaged", 1) > 1
                curves = found.averaged if is_averaged else found.points
                for name, series in SERIES.items():
                    if (series.file, series.event) == (file, values["event"]):
                        step, value = operator.index(values["step"]), values[series.field]
                        # The log has null for a number that is not finite.
                        if value is not None and ONLY.get(name, kind) == kind:
                            curves[name].append((float(step), float(value)))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise HeadwayError(
                    f"{path / file}:{number}: damaged: not a line of a run's log"
                ) from None
    return found
