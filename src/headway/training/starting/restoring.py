"""Restore a run from its newest whole checkpoint, and its models; report what is damaged."""

import shutil
from collections.abc import Mapping

from headway.errors import HeadwayError
from headway.files import OtherVersionError, check_writer, hash_file, write_atomically
from headway.training import parallel
from headway.training.run import Run
from headway.training.steps.feed import Feed, Position
from headway.training.storage.checkpoint import (
    Tensors,
    check_tensors,
    explain_write_errors,
    set_aside,
)
from headway.training.storage.record import RunRecord, RunState
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import CARD, WEIGHTS


def restore_newest(run: Run) -> list[str]:
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
    expected = run.trainer.tensors()
    for step in reversed(directory.steps()):
        try:
            _restore(run, step, expected)
            break
        except OtherVersionError:
            raise
        except HeadwayError as error:
            damaged[step] = str(error)
    else:
        way_out = "restore it, or delete it and metrics.jsonl to train again from step 0"
        if damaged:
            raise HeadwayError(
                f"{damaged[max(damaged)]}; {directory.checkpoints} has no whole checkpoint: {way_out}"
            )
        if directory.metrics.size():
            raise HeadwayError(
                f"{directory.checkpoints}: has no checkpoint, but metrics.jsonl has steps: {way_out}"
            )
        return []  # the run was interrupted before its first checkpoint
    notices = [
        f"{error}: the checkpoint is damaged, and the run goes on from that of step {run.step}"
        for error in damaged.values()
    ]
    checked = {run.step}
    while unchecked := set(_steps_to_average(run)) - checked:
        step = max(unchecked)
        checked.add(step)
        try:
            directory.check_weights(step, run.record.identity)
        except OtherVersionError:
            raise
        except HeadwayError as error:
            damaged[step] = str(error)
            notices.append(f"{error}: the average at the end leaves step {step} out")
            run.state.series = [other for other in run.series if other != step]
    parallel.wait_for_first()  # all ranks have read the checkpoints
    if parallel.rank() == 0:
        for step in damaged:
            if directory.checkpoint(step).exists():
                set_aside(directory.checkpoint(step))
    return notices


def _restore(run: Run, step: int, expected: Mapping[str, Tensors]) -> None:
    """Restore a run from the checkpoint of a step.

    Raises:
        HeadwayError: If a file of the checkpoint is missing, damaged or changed.
    """
    path = run.directory.checkpoint(step)
    tensors, values = run.directory.load(step, run.record.identity)
    file = path / "state.json"
    with check_writer(file, values):
        check_tensors(path, tensors, expected)
        try:
            state = RunState.from_dict(values)
            position = Position(state.epoch, state.block, state.index)
            feed = Feed(run.data, run.config.training, run.trainer.device, position)
        except (ValueError, TypeError) as error:
            raise HeadwayError(f"{file}: {error}") from None
    run.trainer.load(tensors)
    run.trainer.steps = run.saved = step
    run.state, run.feed = state, feed


def restore_models(
    directory: RunDirectory, record: RunRecord, way_on: str
) -> tuple[dict[str, str], list[str]]:
    """Restore each damaged model from another of the run that has the same weights, if there is one.

    Args:
        directory: Of the run.
        record: Of the run.
        way_on: What follows if there is none, or what the user can do then.

    Returns:
        The names of the files with weights that are lost, each with a line for the user; and all that the
        user should know, a line each.
    """
    damaged = [
        name
        for name, digests in record.models.items()
        if not (directory.path / name).is_file() or hash_file(directory.path / name) not in digests
    ]
    copies = {
        name: other
        for name in damaged
        for other in record.models.keys() - set(damaged)
        if record.models[other] == record.models[name]
    }
    parallel.wait_for_first()  # all ranks have looked
    if parallel.rank() == 0:
        for name, other in copies.items():
            with explain_write_errors(directory.path / name, 0):
                (directory.path / name).parent.mkdir(exist_ok=True)
                for file in (CARD, WEIGHTS):
                    source = (directory.path / other).with_name(file)
                    if source.is_file():
                        with write_atomically((directory.path / name).with_name(file)) as temporary:
                            shutil.copyfile(source, temporary)
    restored = [
        f"{directory.path / name}: was missing, or changed since the run wrote it: copied from"
        f" {directory.path / other}, which has the same weights"
        for name, other in copies.items()
    ]
    lost = {
        name: f"{directory.path / name}: missing, or changed since the run wrote it: {way_on}"
        for name in damaged
        if name not in copies
    }
    return lost, [*restored, *lost.values()]


def _steps_to_average(run: Run) -> list[int]:
    """Return the steps of those present checkpoints that the average at the end may need."""
    settings = run.config.training
    if settings.patience:  # the end may come at any step
        return run.series
    following = range(run.step + 1, settings.max_steps + 1)
    coming = {step for step in following if step % settings.checkpoint_every == 0}
    last = sorted({*run.series, *coming, settings.max_steps} - {0})[-settings.average :]
    return [step for step in last if step in run.series]
