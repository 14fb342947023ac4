"""What a training run has written about itself so far, as series of points; it may go on growing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError

Points = list[tuple[float, float]]
# What can be drawn over the steps: the heading of each, with its unit.
SERIES = {
    "loss": "training loss, nats per token",
    "perplexity": "validation perplexity",
    "bleu": "validation BLEU",
    "rate": "learning rate",
    "speed": "tokens per second",
}
_METRICS, _TIMINGS = "metrics.jsonl", "timings.jsonl"


class Curves:
    """The series of one run.

    Args:
        path: A run directory.

    Attributes:
        name: What the run is called in a legend.
        points: (step, value) of each series.
        averaged: The same of models that are averages of checkpoints, which no line joins.

    Raises:
        HeadwayError: If there is no run there, or its log is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.name or str(self.path)
        if not (self.path / _METRICS).is_file():
            raise HeadwayError(f"{self.path}: no {_METRICS}: give the directory of a training run")
        self._read = dict.fromkeys((_METRICS, _TIMINGS), 0)  # bytes
        self.points: dict[str, Points] = {}
        self.averaged: dict[str, Points] = {}
        self._forget()
        self.update()

    def _forget(self) -> None:
        self._read = dict.fromkeys(self._read, 0)
        self.points = {name: [] for name in SERIES}
        self.averaged = {name: [] for name in SERIES}

    @property
    def finished(self) -> bool:
        """Whether training has come to its end."""
        try:
            facts = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return bool(facts.get("finished"))

    @property
    def step(self) -> int:
        """The last step."""
        return int(self.points["loss"][-1][0]) if self.points["loss"] else 0

    def update(self) -> None:
        """Read what has been written since; a run that was resumed may have less than before."""
        files = [self.path / name for name in self._read]
        if any(f.is_file() and f.stat().st_size < self._read[f.name] for f in files):
            self._forget()
        for file in files:
            if file.is_file():
                self._follow(file)

    def _follow(self, file: Path) -> None:
        start = self._read[file.name]
        with file.open("rb") as stream:
            stream.seek(start)
            text = stream.read()
        # A last line that is still being written is read the next time.
        whole = text[: text.rfind(b"\n") + 1]
        at = start
        for line in whole.splitlines(keepends=True):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise HeadwayError(
                    f"{file}: damaged at byte {at}: not a line of a run's log"
                ) from None
            at += len(line)
        self._read[file.name] = at

    def _take(self, values: dict[str, Any]) -> None:
        step = values["step"]
        match values["event"]:
            case "step":
                self._add("loss", step, values["loss"])
                self._add("rate", step, values["rate"])
            case "validation" if "bleu" in values:  # that of the other log holds its seconds
                for name in ("perplexity", "bleu"):
                    self._add(name, step, values[name], averaged=values.get("averaged", 1) > 1)
            case "steps":
                self._add("speed", step, values["tokens_per_second"])

    def _add(self, name: str, step: int, value: float | None, *, averaged: bool = False) -> None:
        if value is not None:  # numbers that were not finite are null
            (self.averaged if averaged else self.points)[name].append((float(step), float(value)))


def thin(points: Sequence[tuple[float, float]], most: int = 400) -> Points:
    """Return at most so many points: the means of as many points in a row."""
    size = -(-len(points) // most) if points else 1
    groups = [points[i : i + size] for i in range(0, len(points), size)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]


def label_runs(runs: Sequence[Curves]) -> list[str]:
    """Return a name for each run; runs of the same name go by their whole paths."""
    names = [run.name for run in runs]
    return [str(run.path) if names.count(run.name) > 1 else run.name for run in runs]
