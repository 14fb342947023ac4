"""Resume the run that a directory holds, from its newest checkpoint."""

from dataclasses import replace

import torch

from headway.config import Config
from headway.config.declaration import spell
from headway.devices import resolve_device
from headway.errors import HeadwayError
from headway.extension import identify_arithmetic, load_all
from headway.files import OtherVersionError, check_writer, hash_file
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.run import Run
from headway.training.starting.plan import RunPlan, with_vocabulary
from headway.training.starting.resume_check import (
    check_same_run,
    list_differences,
    list_other_requests,
    refuse,
)
from headway.training.steps.feed import Feed, Position
from headway.training.steps.optimizers import warn_if_rate_rises
from headway.training.storage.checkpoint import OPTIMIZER
from headway.training.storage.model_writer import write_settings
from headway.training.storage.record import DataRecord, RunRecord, RunState
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import CONFIG, WEIGHTS

RESTORE = "restore it (best and averaged may have a copy)"


def resume_run(plan: RunPlan) -> tuple[Run | None, list[str]]:
    """Resume the run that is planned; a finished one is repaired, and may take other settings of its search.

    Args:
        plan: Of a run that the directory holds; its corpora are files, not names.

    Returns:
        The run, or None if it is finished; and what the user should know, a line each.

    Raises:
        HeadwayError: If the run has other data, or a file is missing or damaged.
    """
    directory, request, record = plan.directory, plan.request, plan.record
    assert record, "the plan is of a run that has started"
    stored = record.settings
    place = request.data or record.data.directory or directory.data
    way_out = "restore the data that the run was started with, or start another RUN"
    data = PreparedData.open(place, way_out)
    refuse(directory.path, list_other_requests(request, record, data), data.directory)
    lengths = [(c.training.max_steps, c.training.patience) for c in (stored, plan.settings)]
    if record.finished and lengths[0] == lengths[1]:
        settings = with_vocabulary(plan.settings, data)
        return None, [*plan.notices, *_keep_finished(directory, record, data, settings)]
    notices = [*plan.notices, *_list_other_roundings(plan, record)]
    run, damage = resume(directory, record, data, plan.settings)
    if rise := warn_if_rate_rises(run.step, stored.training, plan.settings.training):
        notices.append(rise)
    return run, notices + damage


def resume(
    directory: RunDirectory,
    record: RunRecord,
    data: PreparedData,
    config: Config,
) -> tuple[Run, list[str]]:
    """Resume a run from its newest whole checkpoint, or from step 0 if there is no checkpoint yet.

    Args:
        directory: Locked, with a run in it.
        record: What its ``run.json`` holds.
        data: The data that the run was started with.
        config: The run's settings, except for those that may change.

    Returns:
        The run, and what the user should know of damaged files, a line each.

    Raises:
        HeadwayError: If no checkpoint is whole, if settings or data are not what they
            were, or the run has already taken more steps than ``training.max_steps``.
    """
    config = with_vocabulary(config, data)
    now = _renew(directory, record, data, config)
    resolve_device(
        now.machine.device,
        "training.device",
        "resume the run where it was started, or move it with --training.device cpu",
    )
    lost = _list_lost_models(directory, now)
    run = Run(directory, data, config, now)
    notices = _restore_newest(run)
    if run.saved < 0 and now.init:
        from headway.training.starting.fine_tuning import load_initial_weights

        load_initial_weights(run, now.init)
    if run.step > config.training.max_steps:
        raise HeadwayError(
            f"training.max_steps = {config.training.max_steps}: {directory.path} is at step"
            f" {run.step} already"
        )
    for name in lost:
        notices.append(
            f"{directory.path / name}: missing: the next validation writes another model"
        )
        del now.models[name]
    if WEIGHTS in lost:
        now.installed = None
    if f"best/{WEIGHTS}" in lost:
        run.state.best = None
    parallel.wait_for_first()
    if parallel.rank() == 0:
        notices += directory.cut_logs(run.state)
        directory.write_record(now)
        write_settings(directory, data, config)
    return run, notices


def _restore_newest(run: Run) -> list[str]:
    """Restore a run from its newest whole checkpoint; without any checkpoint, it stays at step 0.

    Damaged checkpoints are renamed to ``damaged-step-N``.

    Args:
        run: New.

    Returns:
        What the user should know, a line each.

    Raises:
        OtherVersionError: If another Headway wrote one of them.
        HeadwayError: If none of the checkpoints is whole, or they are lost.
    """
    directory = run.directory
    damaged: dict[int, str] = {}
    for step in reversed(directory.steps()):
        try:
            _load_checkpoint(run, step)
            break
        except OtherVersionError:
            raise
        except HeadwayError as error:
            damaged[step] = str(error)
    else:
        if damaged or directory.metrics.size():
            reason = damaged[max(damaged)] if damaged else "metrics.jsonl has steps"
            raise HeadwayError(
                f"{directory.checkpoints}: has no whole checkpoint ({reason}): restore one, or delete"
                " checkpoints and metrics.jsonl to train again from step 0"
            )
        return []  # the run was interrupted before its first checkpoint
    notices = [
        f"{error}: the checkpoint is damaged, and the run goes on from that of step {run.step}"
        for error in damaged.values()
    ]
    for step in sorted({*run.state.series}.difference(directory.steps())):
        notices.append(f"{directory.checkpoint(step)}: missing: the average leaves step {step} out")
        run.state.series.remove(step)
    parallel.wait_for_first()  # all ranks have read the checkpoints
    if parallel.rank() == 0:
        for step in damaged:
            directory.set_aside(step)
    return notices


def _load_checkpoint(run: Run, step: int) -> None:
    """Restore a run from the checkpoint of a step.

    Raises:
        HeadwayError: If a file of the checkpoint is missing, damaged or changed.
    """
    path = run.directory.checkpoint(step)
    tensors, values = run.directory.load(step, run.record.identity)
    file = path / "state.json"
    if not run.directory.is_resumable(step):
        raise HeadwayError(f"{path / OPTIMIZER}: missing")
    with check_writer(file, values):
        try:
            state = RunState.from_dict(values)
            position = Position(state.epoch, state.block, state.index)
            feed = Feed(run.data, run.config.training, run.trainer.device, position)
        except (ValueError, TypeError) as error:
            raise HeadwayError(f"{file}: {error}") from None
    run.trainer.load(tensors)
    run.trainer.steps = run.saved = step
    run.state, run.feed = state, feed


def _list_lost_models(directory: RunDirectory, record: RunRecord) -> list[str]:
    """Return the files with weights that are missing, after checking that the others are what the run wrote.

    Raises:
        HeadwayError: If one of them has changed.
    """
    lost = []
    for name, digests in record.models.items():
        file = directory.path / name
        if not file.exists():
            lost.append(name)
        elif not file.is_file() or hash_file(file) not in digests:
            raise HeadwayError(
                f"{file}: changed since the run wrote it: {RESTORE}, or delete it to go on without this model"
            )
    return lost


def _renew(
    directory: RunDirectory, record: RunRecord, data: PreparedData, config: Config
) -> RunRecord:
    """Return the record of a run that goes on, after checking that it is the same run."""
    now = replace(
        record,
        # The same data may lie in another place now.
        data=DataRecord.describe(data, directory.path),
        machine=record.machine.with_changes(record.settings.training.device, config.training),
        settings=config,
        finished=False,
    )
    check_same_run(directory.path, data, record, now)
    return now


def _keep_finished(
    directory: RunDirectory, record: RunRecord, data: PreparedData, settings: Config
) -> list[str]:
    """Store the settings of a finished run that may change; return what the user should know."""
    now = replace(_renew(directory, record, data, settings), finished=True)
    stored = record.settings
    if settings.training.average != stored.training.average:
        raise HeadwayError(
            f"training.average = {settings.training.average}: {directory.path} is finished and has averaged"
            f" {stored.training.average}: give more --training.max-steps too, or average the checkpoints"
            f" that it has kept with headway average {directory.path} OUT"
        )
    lost = _list_lost_models(directory, record)
    if WEIGHTS in lost:
        raise HeadwayError(f"{directory.path / WEIGHTS}: missing: {RESTORE}, or train more steps")
    notices = [f"{directory.path / name}: missing: {RESTORE}" for name in lost]
    if parallel.rank() == 0:
        if now != record:
            directory.write_record(now)
        write_settings(directory, data, settings)
    notices += [
        f"{directory.path / CONFIG}: {change}, from now on"
        for change in list_differences(settings, stored)
    ]
    for _, step in load_all("end_steps"):
        file = directory.path / step.FILE
        if step.FROM_SETTINGS and step.wants(settings) and not file.exists():
            for _ in step.learn(directory, data, str(record.machine.torch_device)):
                pass
            notices.append(f"{file}: learned")
    return notices


def _list_other_roundings(plan: RunPlan, record: RunRecord) -> list[str]:
    """Return a notice for each difference that may change the last bits of results."""
    shard, ranks = plan.settings.training.shard, parallel.world_size()
    facts: dict[str, tuple[object, object]] = {
        "torch": (record.torch, torch.__version__),
        "the native code": (record.native, identify_arithmetic("training")),
        "the device": (record.machine.device, plan.machine.device),
        "training.shard": (record.settings.training.shard, shard),
        "the number of ranks": (record.processes if shard else ranks, ranks),
    }
    return [
        f"{what} was {spell(before)} and is now {spell(now)}: the last bits of results may differ"
        for what, (before, now) in facts.items()
        if before != now
    ]
