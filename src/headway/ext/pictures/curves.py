"""The curves of a training run: series of points, read from its logs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from headway.config import Kind
from headway.errors import HeadwayError
from headway.ext.pictures.labels import xml_text

Points = list[tuple[float, float]]
# The heading of each series, with its unit.
SERIES = {
    "loss": "training loss, nats per token",
    "perplexity": "validation perplexity",
    "bleu": "validation BLEU",
    "accuracy": "validation accuracy, %",
    "rate": "learning rate",
    "speed": "tokens per second",
}
# What a kind of model is measured by, besides perplexity; the log has 0 for the other.
QUALITY: dict[Kind, str] = {"translator": "bleu", "classifier": "accuracy"}
_METRICS, _TIMINGS = "metrics.jsonl", "timings.jsonl"


class Curves:
    """The series of one run, which may still be training.

    Args:
        path: A run directory.

    Attributes:
        path: The run directory.
        name: The name of the run in a legend.
        points: The points (step, value) of each series.
        averaged: The points of models that are averages of checkpoints; no line joins them.

    Raises:
        HeadwayError: If the directory holds no run, or its log is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.name or str(self.path)
        if not (self.path / _METRICS).is_file():
            raise HeadwayError(f"{self.path}: no {_METRICS}: give the directory of a training run")
        self._kind = _read_kind(self.path)
        self.points: dict[str, Points] = {name: [] for name in SERIES}
        self.averaged: dict[str, Points] = {name: [] for name in SERIES}
        for name in (_METRICS, _TIMINGS):
            if (self.path / name).is_file():
                self._read(self.path / name)

    @property
    def step(self) -> int:
        """The last step."""
        return int(self.points["loss"][-1][0]) if self.points["loss"] else 0

    def _read(self, file: Path) -> None:
        text = file.read_bytes()
        # A training that runs now may have written only a part of the last line.
        start = 0
        for line in text[: text.rfind(b"\n") + 1].splitlines(keepends=True):
            try:
                self._add_event(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise HeadwayError(
                    f"{file}: damaged at byte {start}: not a line of a run's log"
                ) from None
            start += len(line)

    def _add_event(self, values: dict[str, Any]) -> None:
        step = values["step"]
        if not isinstance(step, int):
            raise TypeError("a step is a whole number")
        match values["event"]:
            case "step":
                self._add("loss", step, values["loss"])
                self._add("rate", step, values["rate"])
            # timings.jsonl also has validations, with their seconds instead of a score.
            case "validation" if "bleu" in values:
                averaged = values.get("averaged", 1) > 1
                self._add("perplexity", step, values["perplexity"], averaged=averaged)
                if name := QUALITY.get(self._kind):
                    self._add(name, step, values[name], averaged=averaged)
            case "steps":
                self._add("speed", step, values["tokens_per_second"])

    def _add(self, name: str, step: int, value: float | None, *, averaged: bool = False) -> None:
        if value is not None:  # The log has null for a number that is not finite.
            (self.averaged if averaged else self.points)[name].append((float(step), float(value)))


def _read_kind(path: Path) -> Kind:
    """Return the kind of model of a run; without whole settings, a translator."""
    try:
        kind: Kind = json.loads((path / "config.json").read_bytes())["settings"]["model"]["kind"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return "translator"
    return kind if kind in get_args(Kind) else "translator"


def thin(points: Sequence[tuple[float, float]], most: int = 400) -> Points:
    """Return at most ``most`` points: means of neighboring points."""
    size = -(-len(points) // most) if points else 1
    groups = [points[i : i + size] for i in range(0, len(points), size)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]


def label_runs(runs: Sequence[Curves]) -> list[str]:
    """Return a name for each run; runs of the same name get their whole paths."""
    names = [run.name for run in runs]
    return [xml_text(str(run.path) if names.count(run.name) > 1 else run.name) for run in runs]
