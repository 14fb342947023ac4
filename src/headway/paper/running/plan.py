"""A trial before it runs: its settings and data, the name of its directory, and its ``spec.json``."""

import hashlib
import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch

from headway.config import Config
from headway.model import Transformer
from headway.paper.running.task import Task
from headway.training.storage.checkpoint import replace_file

Change = Callable[[Transformer], None]
PACKAGE = Path(__file__).parents[2]
# The folders, beside this one, on whose sources a trial depends.
FOLDERS = ("config", "kernels", "model", "text", "inference", "evaluation", "training", "parsing")


@dataclass(frozen=True)
class PlannedTrial:
    """A trial to be run.

    Attributes:
        name: For people.
        config: Its settings; ``seed`` replaces the seed of ``training``.
        task: Its data; None: the work's text.
        seed: Of weights, order and dropout.
        change: A function at the top level of a module that changes the model before training.
    """

    name: str
    config: Config
    task: Task | None = None
    seed: int = 1
    change: Change | None = None

    def key(self, task: Task) -> str:
        """Return a hash of all that the result depends on: settings, data, change and sources.

        Args:
            task: The data.
        """
        modules = {type(task).__module__}
        if self.change:
            modules.add(self.change.__module__)
        parts = (
            self._seeded_config(),
            task.fingerprint,
            _name(self.change),
            code_version(*sorted(modules)),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def write_spec(self, directory: Path, task: Task, data_folder: Path) -> None:
        """Prepare the data, and write what the trial is to do.

        Args:
            directory: Of the trial.
            task: The data.
            data_folder: The directory in which the data of all trials are prepared.
        """
        config = self._seeded_config()
        data, test = task.prepare(data_folder, config.text)
        spec = {
            "name": self.name,
            "settings": config.to_dict(),
            "task": _name(type(task)),
            "data": str(data),
            "test": [str(path) for path in test],
            "change": _name(self.change),
        }
        directory.mkdir(parents=True, exist_ok=True)
        replace_file(directory / "spec.json", json.dumps(spec, indent=1).encode())

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


def _name(item: Change | type | None) -> str | None:
    """Return the name by which a trial's process imports a function or class."""
    return f"{item.__module__}:{item.__qualname__}" if item else None


@cache
def code_version(*modules: str) -> str:
    """Return a hash of torch's version and of the sources that a trial depends on.

    Args:
        modules: Further modules of this package, such as the one that scores.
    """
    folders = [*(PACKAGE / folder for folder in FOLDERS), Path(__file__).parent]
    files = sorted(
        f for folder in folders for f in folder.rglob("*") if f.suffix in (".py", ".h", ".cpp")
    )
    files += [Path(str(importlib.import_module(module).__file__)) for module in sorted(modules)]
    sums = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return hashlib.sha256("".join((*sums, torch.__version__)).encode()).hexdigest()
