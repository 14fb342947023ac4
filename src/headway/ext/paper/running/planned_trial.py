"""A trial before it runs: its settings and data, the name of its directory, and its ``spec.json``."""

import hashlib
import json
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch.nn import Module

from headway.config import Config, TrainingConfig
from headway.ext.paper.running.sources import code_version, library_versions, source_version
from headway.ext.paper.running.task import TrialTask
from headway.ext.paper.running.trial_forecast import training_effort
from headway.files import replace_bytes
from headway.model import Transformer

Change = Callable[[Transformer], None]
Train = Callable[[Path], None]
TEXT = "--train train.en train.de --valid valid.en valid.de"
RUNNER = "headway.ext.paper.running.trial_run"


@dataclass(frozen=True)
class PlannedTrial:
    """A trial to be run.

    Attributes:
        name: For people.
        config: Its settings; ``seed`` replaces the seed of ``training``.
        task: Its data; None: the work's text.
        seed: Of weights, order and dropout.
        change: A function at the top level of a module that changes the model before training.
        trainer: Such a function, which trains something else than Headway's trainer does. It reads the ``spec.json`` of a
            directory, and writes ``trial.json``.
        system: The class of what it trains, if it can train several.
        pace: How many times as long it takes as a Transformer with these settings.
        command: The verb that trains such a model, and the text that people give it.
    """

    name: str
    config: Config
    task: TrialTask | None = None
    seed: int = 1
    change: Change | None = None
    trainer: Train | None = None
    system: type[Module] | None = None
    pace: float = 1.0
    command: tuple[str, str] = ("train", TEXT)

    @property
    def effort(self) -> float:
        """How long the training takes, in proportion to others."""
        return self.pace * training_effort(self.config)

    def key(self, task: TrialTask) -> str:
        """Return a hash of all that the result depends on here: of the training, the device and the libraries.

        Args:
            task: The data.
        """
        training = self.config.training
        parts = self.training(task), training.device, training.threads, library_versions()
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def training(self, task: TrialTask) -> str:
        """Return a hash of what is trained, on whatever machine: settings, data, system and sources."""
        config = self._seeded_config()
        usual = TrainingConfig()
        training = replace(config.training, device=usual.device, threads=usual.threads)
        named = _name(self.change), _name(self.trainer), _name(self.system)
        version = source_version(*self._modules(task))
        parts = replace(config, training=training), task.fingerprint, named, version
        return hashlib.sha256(repr(parts).encode()).hexdigest()

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
            "training": self.training(task),
            "sources": source_version(*modules),
            "machine": describe_machine(config.training.device),
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
    """Return the facts that `PlannedTrial.write_spec` wrote; None: other code than today's has trained it.

    They are ``training``, ``machine``, ``experiment``, ``scale`` and ``text``.
    """
    try:
        spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
        is_current = spec["sources"] == source_version(*spec["modules"])
        names = ("training", "machine", "experiment", "scale", "text")
        return {name: spec[name] for name in names} if is_current else None
    except (OSError, ValueError, KeyError, TypeError, ImportError):
        return None


def describe_machine(device: str) -> str:
    """Return the device and the versions with which trainings run here."""
    gpu = "" if device == "cpu" else f"{torch.cuda.get_device_name(device)}, "
    system = f"Python {platform.python_version()}, {platform.machine()}"
    return f"{gpu}torch {torch.__version__}, {system}"
