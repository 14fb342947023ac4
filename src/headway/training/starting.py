"""How a run begins, and how it goes on where it was."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from headway import __version__
from headway.config import Config
from headway.errors import HeadwayError
from headway.inference.directory import read_config, write_config
from headway.kernels.build import identity
from headway.text.prepare import PreparedData
from headway.training import initial, processes
from headway.training.facts import check_data, describe_data, with_vocabulary
from headway.training.feed import Feed
from headway.training.machine import Machine, share
from headway.training.run import Run
from headway.training.run_directory import RunDirectory
from headway.training.state import State

NOTHING: Mapping[str, str] = MappingProxyType({})


def start(
    directory: RunDirectory,
    data: PreparedData,
    config: Config,
    *,
    command: Sequence[str] = (),
    train: Mapping[str, str] = NOTHING,
    valid: Mapping[str, str] = NOTHING,
    init: str | Path | None = None,
) -> Run:
    """Prepare a run in a locked directory that holds none; `Run.begin` makes it one.

    Args:
        directory: Where.
        data: Prepared, in the directory itself or elsewhere.
        config: The settings; vocabulary sizes come from the data.
        command: What the user wrote, to be remembered.
        train: Name -> sha256 of the files the training data came from.
        valid: The same for the validation data.
        init: A model directory to begin from, of the same shape and vocabulary.
    """
    config = with_vocabulary(config, data)
    facts: dict[str, Any] = {
        "headway": __version__,
        "torch": torch.__version__,
        "native": identity("training"),
        "command": list(command),
        "files": {"train": dict(train), "valid": dict(valid)},
        "data": describe_data(directory, data),
        "init": init and initial.describe(init),
        "machine": asdict(Machine.resolve(config.training)),
        "processes": processes.count(),
        "installed": None,
        "finished": False,
    }
    run = Run(directory, data, config, facts)
    if facts["init"]:
        initial.begin_from(facts["init"], run.trainer.model)
    if processes.rank() == 0:
        data.tokenizer.save(directory.path)
        write_config(directory.path, config, data.languages)
    return run


def resume(directory: RunDirectory, data: PreparedData, config: Config) -> Run:
    """Go on from the newest checkpoint, or from the start where there is none yet.

    Args:
        directory: Locked.
        data: What the run was started with.
        config: The run's, but for what may change.

    Raises:
        HeadwayError: If data, vocabulary, machine or processes are not what they were, or the run
            is further than its last step.
    """
    facts = directory.facts()
    check_data(directory, data, facts)
    config = with_vocabulary(config, data)
    stored, _ = read_config(directory.path)
    if config.training.threads != stored.training.threads:
        facts["machine"]["threads"] = config.training.threads or share()
    # The same data may lie elsewhere by now, and the run has more to do.
    facts |= {"data": describe_data(directory, data), "finished": False}
    Machine.check(
        facts["machine"]["device"],
        f"go on where it is, or start another RUN with --data {data.directory}",
    )
    if facts["processes"] != processes.count():
        raise HeadwayError(
            f"{directory.path}: started with {facts['processes']} processes, which share its"
            f" batches; resume it with as many, not {processes.count()}"
        )
    last = config.training.max_steps
    newest = max(directory.steps(), default=None)
    if newest is not None and newest > last:
        raise HeadwayError(
            f"training.max_steps = {last}: {directory.path} is at step {newest} already"
        )
    run = Run(directory, data, config, facts)
    logs = {"metrics_bytes": 0, "timings_bytes": 0}
    if newest is None and facts["init"]:
        initial.begin_from(facts["init"], run.trainer.model)
    if newest is not None:
        tensors, logs = directory.load(newest)
        run.trainer.load(tensors)
        run.trainer.steps = run.saved = newest
        run.state = State.from_dict(logs)
        run.feed = Feed(data, config.training, run.trainer.device, run.state.epoch, run.state.index)
    processes.wait()
    if processes.rank() == 0:
        directory.cut_logs(logs)
        write_config(directory.path, config, data.languages)
        directory.write_facts(facts)
    return run
