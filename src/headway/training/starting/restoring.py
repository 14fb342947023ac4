"""Restore a run from its newest whole checkpoint; report what is damaged."""

from headway.errors import HeadwayError
from headway.files import OtherVersionError, check_writer, hash_file
from headway.training import parallel
from headway.training.run import Run
from headway.training.steps.feed import Feed, Position
from headway.training.storage.checkpoint import OPTIMIZER, set_aside
from headway.training.storage.record import RunRecord, RunState
from headway.training.storage.run_directory import RunDirectory

RESTORE = "restore it (best and averaged may have a copy)"


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
    for step in reversed(directory.steps()):
        try:
            _restore(run, step)
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
            set_aside(directory.checkpoint(step))
    return notices


def _restore(run: Run, step: int) -> None:
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


def list_lost_models(directory: RunDirectory, record: RunRecord) -> list[str]:
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
