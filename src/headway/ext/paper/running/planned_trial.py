"""A trial before it runs: its settings and data, the name of its directory, and its ``spec.json``."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from torch.nn import Module

from headway.config import Config
from headway.ext.paper.running.sources import code_version
from headway.ext.paper.running.task import TrialTask
from headway.ext.paper.running.trial_forecast import training_effort
from headway.files import replace_bytes
from headway.model import Transformer

Change = Callable[[Transformer], None]
Train = Callable[[Path], None]
RUNNER = "headway.ext.paper.running.trial_run"


@dataclass(frozen=True)
class PlannedTrial:
    """A trial to be run.

    Attributes:
        name: For people.
        config: Its settings; ``seed`` replaces the seed of ``training``.
        task: Its data; None: the work's text.
        seed: Of weights, order and dropout.
        change: A function at the top level of a module that changes the model before training. A training that goes
            on from a checkpoint makes the change again, with the checkpoint's weights.
        trainer: Such a function, which trains something else than Headway's trainer does. It reads the ``spec.json`` of a
            directory, and writes ``trial.json``.
        system: The class of what it trains, if it can train several.
        pace: How many times as long it takes as a Transformer with these settings.
    """

    name: str
    config: Config
    task: TrialTask | None = None
    seed: int = 1
    change: Change | None = None
    trainer: Train | None = None
    system: type[Module] | None = None
    pace: float = 1.0

    @property
    def effort(self) -> float:
        """How long the training takes, in proportion to others."""
        return self.pace * training_effort(self.config)

    def key(self, task: TrialTask) -> str:
        """Return a hash of all that the result depends on: settings, data, system and sources.

        Args:
            task: The data.
        """
        named = _name(self.change), _name(self.trainer), _name(self.system)
        version = code_version(*self._modules(task))
        parts = self._seeded_config(), task.fingerprint, named, version
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def _modules(self, task: TrialTask) -> list[str]:
        """Return the names of the modules that train and score the model: the result depends on their source code."""
        named = [each for each in (self.change, self.trainer, self.system) if each]
        return sorted({RUNNER, type(task).__module__, *(each.__module__ for each in named)})

    def write_spec(
        self, directory: Path, task: TrialTask, data_folder: Path, origin: dict[str, str]
    ) -> None:
        """Prepare the data, and write what the trial is to do.

        Args:
            directory: Of the trial.
            task: The data.
            data_folder: The directory in which the data of all trials are prepared.
            origin: Facts for the reader of a report, such as the experiment that trained it first.
        """
        modules = self._modules(task)
        config = self._seeded_config()
        data, test = task.prepare(data_folder, config.text)
        spec = {
            "name": self.name,
            "settings": config.to_dict(),
            "task": _name(type(task)),
            "data": str(data),
            "test": [str(path) for path in test],
            "change": _name(self.change),
            "trainer": _name(self.trainer),
            "system": _name(self.system),
            "modules": modules,
            "version": code_version(*modules),
            **origin,
        }
        directory.mkdir(parents=True, exist_ok=True)
        replace_bytes(directory / "spec.json", json.dumps(spec, indent=1).encode())

    def _seeded_config(self) -> Config:
        """Return the settings with the seed; usual widths of heads become 0."""
        model = self.config.model
        usual = model.d_model / model.num_heads
        d_k, d_v = (0 if width == usual else width for width in (model.d_k, model.d_v))
        return replace(
            self.config,
            model=replace(model, d_k=d_k, d_v=d_v),
            training=replace(self.config.training, seed=self.seed),
        )


def _name(item: Change | Train | type | None) -> str | None:
    """Return the name by which a trial's process imports a function or class."""
    return f"{item.__module__}:{item.__qualname__}" if item else None


def read_origin(directory: Path) -> dict[str, str] | None:
    """Return the facts that `PlannedTrial.write_spec` was given; None: other code than today's has trained it."""
    try:
        spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
        is_current = spec["version"] == code_version(*spec["modules"])
        return (
            {name: spec[name] for name in ("experiment", "scale", "text")} if is_current else None
        )
    except (OSError, ValueError, KeyError, TypeError, ImportError):
        return None
