"""Trainings of rivals as trials: each in a worker process, and read when it was finished before."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import Config
from headway.paper import rivals
from headway.paper.running.plan import code_version
from headway.paper.running.task import Task
from headway.paper.running.trial import Group, read_trial
from headway.paper.running.work import Work
from headway.paper.running.workers import run_together
from headway.training.storage.checkpoint import replace_file


def train_groups(
    work: Work,
    function: Callable[[Path], None],
    names: Sequence[str],
    config: Config,
    task: Task,
) -> dict[str, Group]:
    """Train each system with each seed; returns the trials by name.

    Args:
        work: Its seeds, its directory and its processes.
        function: Trains what the ``spec.json`` of a directory describes, and writes ``trial.json``.
        names: The systems. They start in the opposite order: the slowest is the last name.
        config: The settings of all.
        task: Their data.
    """
    planned = {
        (name, seed): write_spec(work, name, seed, config, task)
        for name in reversed(names)
        for seed in work.seeds
    }
    waiting = [directory for directory in planned.values() if read_trial(directory) is None]
    for directory in run_together(function, waiting, work.processes):
        trial = read_trial(directory)
        assert trial is not None
        scores = ", ".join(f"{name} {value:.4g}" for name, value in trial.scores.items())
        work.show(f"  {trial.name}, seed {trial.seed}: {scores}, {trial.seconds:.0f} s")
    found = {key: read_trial(directory) for key, directory in planned.items()}
    return {
        name: Group(tuple(t for seed in work.seeds if (t := found[name, seed]) is not None))
        for name in names
    }


def write_spec(work: Work, name: str, seed: int, config: Config, task: Task) -> Path:
    """Prepare the data, and write what a training is to do; returns its directory."""
    config = replace(config, training=replace(config.training, seed=seed))
    files = sorted(Path(rivals.__file__).parent.glob("*.py"))
    modules = (f"{rivals.__name__}.{file.stem}" for file in files if file.stem != "__init__")
    parts = (name, config, task.fingerprint, code_version(*modules))
    directory = work.directory / "trials" / hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    data, test = task.prepare(work.directory / "data", config.text)
    spec = {
        "name": name,
        "settings": config.to_dict(),
        "data": str(data),
        "test": [str(path) for path in test],
    }
    directory.mkdir(parents=True, exist_ok=True)
    replace_file(directory / "spec.json", json.dumps(spec, indent=1).encode())
    return directory
