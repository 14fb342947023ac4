"""Start a run on prepared data, or resume it from its newest checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import torch

from headway import __version__
from headway.config import Config
from headway.devices import resolve_device
from headway.errors import HeadwayError
from headway.extension import identify_arithmetic
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.machine import Machine
from headway.training.run import Run
from headway.training.starting.fine_tuning import read_initial_weights
from headway.training.starting.restoring import restore_models, restore_newest
from headway.training.starting.resume_check import check_data, identify_run
from headway.training.storage.record import DataRecord, InitialModel, RunRecord
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import WEIGHTS, write_config

NO_FILES: Mapping[str, str] = MappingProxyType({})


def start(
    directory: RunDirectory,
    data: PreparedData,
    config: Config,
    *,
    command: Sequence[str] = (),
    train: Mapping[str, str] = NO_FILES,
    valid: Mapping[str, str] = NO_FILES,
    init: str | Path | None = None,
) -> Run:
    """Start a run; the directory holds a run from `Run.begin` on.

    Args:
        directory: Locked, without a run in it.
        data: Prepared data, in the run directory or elsewhere.
        config: The settings; vocabulary sizes come from the data.
        command: The user's command line, to be recorded.
        train: File name -> sha256 of the files that the training data was prepared from.
        valid: The same for the validation data.
        init: A model directory, of the same shape and vocabulary, whose weights the run starts from.
    """
    config = with_vocabulary(config, data)
    record = RunRecord(
        headway=__version__,
        torch=torch.__version__,
        native=identify_arithmetic("training"),
        command=list(command),
        files={"train": dict(train), "valid": dict(valid)},
        data=DataRecord.describe(data, directory.path),
        init=InitialModel.describe(init) if init else None,
        machine=Machine.resolve(config.training),
        processes=parallel.world_size(),
        settings=config.to_dict(),
    )
    record.identity = identify_run(record)
    run = Run(directory, data, config, record)
    if record.init:
        run.trainer.load_weights(read_initial_weights(record.init, config.model))
    if parallel.rank() == 0:
        write_settings(directory, data, config)
    return run


def resume(directory: RunDirectory, data: PreparedData, config: Config) -> tuple[Run, list[str]]:
    """Resume a run from its newest whole checkpoint, or from step 0 if there is no checkpoint yet.

    Args:
        directory: Locked, with a run in it.
        data: The data that the run was started with.
        config: The run's settings, except for those that may change.

    Returns:
        The run, and what the user should know of damaged files, a line each.

    Raises:
        HeadwayError: If no checkpoint is whole, if data, vocabulary or device are not what they
            were, or the run has already taken more steps than ``training.max_steps``.
    """
    record = directory.record()
    check_data(directory.path, data, record)
    config = with_vocabulary(config, data)
    record.machine = record.machine.with_threads(config.training)
    # The same data may lie in another place now.
    record.data, record.finished = DataRecord.describe(data, directory.path), False
    resolve_device(
        record.machine.device,
        "training.device",
        f"resume the run where it was started, or start another RUN with --data {data.directory}",
    )
    record.settings = config.to_dict()
    run = Run(directory, data, config, record)
    logs, notices = restore_newest(run)
    if run.saved < 0 and record.init:
        run.trainer.load_weights(read_initial_weights(record.init, config.model))
    if run.step > config.training.max_steps:
        raise HeadwayError(
            f"training.max_steps = {config.training.max_steps}: {directory.path} is at step"
            f" {run.step} already"
        )
    lost, restored = restore_models(directory, record)
    notices += restored
    for name in lost:
        notices.append(
            f"{directory.path / name}: missing, or changed since the run wrote it: its model is lost, and the"
            " next validation writes another"
        )
        if name == WEIGHTS:
            record.installed = None
        elif name == f"best/{WEIGHTS}":
            run.state.best = None
    parallel.wait_for_first()
    if parallel.rank() == 0:
        notices += directory.cut_logs(logs)
        directory.write_record(record)
        write_settings(directory, data, config)
    return run, notices


def write_settings(directory: RunDirectory, data: PreparedData, config: Config) -> None:
    """Write vocabulary and settings into a run directory, and beside the models in it."""
    for folder in (directory.path, directory.best, directory.averaged):
        if folder == directory.path or (folder / WEIGHTS).exists():
            data.tokenizer.save(folder)
            write_config(folder, config, data.languages, pairs=data.pairs)


def with_vocabulary(config: Config, data: PreparedData) -> Config:
    """Return the settings with the data's kind of model and its tokenizer's vocabulary sizes.

    Raises:
        HeadwayError: If the settings do not allow them.
    """
    tokenizer = data.tokenizer
    model = replace(
        config.model,
        kind=data.kind,
        source_vocab_size=tokenizer.source_vocab_size,
        target_vocab_size=tokenizer.target_vocab_size,
    )
    return replace(config, model=model)
