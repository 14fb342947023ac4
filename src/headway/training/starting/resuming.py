"""Resume the run that a directory holds, from its newest checkpoint."""

from collections.abc import Collection
from dataclasses import replace

import torch

from headway.config.declaration import spell
from headway.devices import resolve_device
from headway.errors import HeadwayError
from headway.extension import identify_arithmetic
from headway.files import OtherVersionError, check_writer, hash_file
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.run import Notice, Run, take_end_steps
from headway.training.starting.plan import RunPlan, with_vocabulary
from headway.training.starting.resume_check import check_same_run, list_edits
from headway.training.steps.feed import Feed, Position
from headway.training.steps.optimizers import warn_if_rate_rises
from headway.training.storage.checkpoint import STATE
from headway.training.storage.model_writer import write_settings
from headway.training.storage.record import (
    DataRecord,
    RunRecord,
    RunState,
    flatten,
    list_differences,
)
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import CONFIG, WEIGHTS

RESTORE = "restore it (best and averaged may have a copy)"


def resume_run(plan: RunPlan) -> tuple[Run | None, list[str]]:
    """Resume the run that is planned, from its newest whole checkpoint, or from step 0 if there is no checkpoint yet.

    A finished run is repaired, and may take other settings of its search.

    Args:
        plan: Of a run that the directory holds; its corpora are files, not names.

    Returns:
        The run, or None if it is finished; and what the user should know, a line each.

    Raises:
        HeadwayError: If settings or data are not what they were, a file is missing or damaged, no checkpoint is whole, or
            the run has already taken more steps than ``training.max_steps``.
    """
    directory, record = plan.directory, plan.record
    assert record, "the plan is of a run that has started"
    place = plan.request.data or record.data.directory or directory.data
    way_out = "restore the data that the run was started with, or start another RUN"
    data = PreparedData.open(place, way_out)
    lengths = [
        (c.training.max_steps, c.training.patience) for c in (record.settings, plan.settings)
    ]
    now = replace(
        record,
        data=DataRecord.describe(data, directory.path),  # the same data may lie in another place
        machine=plan.machine,
        settings=with_vocabulary(plan.settings, data),
        finished=record.finished and lengths[0] == lengths[1],
    )
    check_same_run(plan, now, data)
    lost = _list_lost_models(directory, record)
    run, notices = None, list_edits(directory.path, record.settings)
    if now.finished:
        notices += _check_finished(directory, record, now, lost)
    else:
        notices += _list_other_roundings(record, now)
        run, found = _continue(directory, record, now, data, lost)
        notices += found
        parallel.wait_for_first()
    if parallel.rank() == 0:
        notices += directory.cut_logs(run.state) if run else []
        directory.write_record(now)
        write_settings(directory, data, now.settings)
    if now.finished:
        notices += _learn_missing(directory, data, now)
    return run, notices


def _continue(
    directory: RunDirectory,
    before: RunRecord,
    now: RunRecord,
    data: PreparedData,
    lost: Collection[str],
) -> tuple[Run, list[str]]:
    """Return the run as it was at its newest whole checkpoint, and what the user should know, a line each.

    Args:
        directory: Of the run.
        before: Its record until now.
        now: Its record from now on, from which lost models are removed.
        data: Its data.
        lost: The files with weights that are missing.
    """
    resolve_device(
        now.machine.device,
        "training.device",
        "resume the run where it was started, or move it with --training.device cpu",
    )
    run = Run(directory, data, now.settings, now)
    notices = _restore_newest(run)
    training = now.settings.training
    if run.step > training.max_steps:
        raise HeadwayError(
            f"training.max_steps = {training.max_steps}: {directory.path} is at step {run.step} already"
        )
    if rise := warn_if_rate_rises(run.step, before.settings.training, training):
        notices.append(rise)
    for name in lost:
        notices.append(
            f"{directory.path / name}: missing: the next validation writes another model"
        )
        del now.models[name]
    # Also if they were lost before an earlier resume, which ended before the next validation.
    if not (directory.path / WEIGHTS).exists():
        now.installed = None
    if not (directory.best / WEIGHTS).exists():
        run.state.best = None
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
    tensors, values = run.directory.load(step, run.record.identity)
    file = run.directory.checkpoint(step) / STATE
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


def _check_finished(
    directory: RunDirectory, before: RunRecord, now: RunRecord, lost: Collection[str]
) -> list[str]:
    """Check that a run that stays finished has its model; return what changes, and what is lost, a line each."""
    average, stored = now.settings.training.average, before.settings.training.average
    if average != stored:
        raise HeadwayError(
            f"training.average = {average}: {directory.path} is finished and has averaged {stored}: give more"
            " --training.max-steps too, or average the checkpoints that it has kept with headway average"
            f" {directory.path} OUT"
        )
    if WEIGHTS in lost:
        raise HeadwayError(f"{directory.path / WEIGHTS}: missing: {RESTORE}, or train more steps")
    changes = list_differences(flatten(now.settings), flatten(before.settings))
    return [
        *(f"{directory.path / name}: missing: {RESTORE}" for name in lost),
        *(f"{directory.path / CONFIG}: {change}, from now on" for change in changes),
    ]


def _learn_missing(directory: RunDirectory, data: PreparedData, record: RunRecord) -> list[str]:
    """Take the end steps that a finished run lacks, and return what happened, a line each.

    A step failed or was interrupted before, or the settings ask for it only now.
    """
    before = [*record.learned]
    notices = [
        event.text for event in take_end_steps(directory, data, record) if isinstance(event, Notice)
    ]
    learned = [name for name in record.learned if name not in before]
    return [*notices, *(f"{directory.path / name}: learned" for name in learned)]


def _list_other_roundings(before: RunRecord, now: RunRecord) -> list[str]:
    """Return a notice for each difference that may change the last bits of results."""
    shards = [record.settings.training.shard for record in (before, now)]
    ranks = parallel.world_size()
    facts: dict[str, tuple[object, object]] = {
        "torch": (before.torch, torch.__version__),
        "the native code": (before.native, identify_arithmetic("training")),
        "the device": (before.machine.device, now.machine.device),
        "training.shard": (shards[0], shards[1]),
        "the number of ranks": (before.processes if shards[1] else ranks, ranks),
    }
    return [
        f"{what} was {spell(old)} and is now {spell(new)}: the last bits of results may differ"
        for what, (old, new) in facts.items()
        if old != new
    ]
