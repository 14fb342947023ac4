"""Restore a run from its newest whole checkpoint, and report the checkpoints that are damaged."""

from collections.abc import Mapping

from headway.errors import HeadwayError
from headway.training import ranks
from headway.training.checkpoint import (
    Tensors,
    check_digest,
    check_tensors,
    read_digests,
    set_aside,
)
from headway.training.feed import Feed
from headway.training.run import Run
from headway.training.run_directory import LogLengths
from headway.training.state import State


def restore_newest(run: Run) -> tuple[LogLengths, list[str]]:
    """Restore a run from its newest whole checkpoint; without any checkpoint, it stays at step 0.

    Damaged checkpoints are renamed to ``damaged-step-N``.

    Args:
        run: New; its random stream is entered.

    Returns:
        The lengths of the logs, and what the user should know, a line each.

    Raises:
        HeadwayError: If there are checkpoints, but none of them is whole.
    """
    directory = run.directory
    damaged: dict[int, str] = {}
    expected = run.trainer.tensors()  # all ranks take part in this, and the loop below may differ
    logs = LogLengths()
    for step in reversed(directory.steps()):
        try:
            logs = _restore(run, step, expected)
            break
        except HeadwayError as error:
            damaged[step] = str(error)
    else:
        if damaged:
            raise HeadwayError(
                f"{damaged[max(damaged)]}; {directory.checkpoints} has no whole checkpoint: restore the"
                " directory, or delete it to train again from step 0"
            )
        return logs, []
    notices = [
        f"{error}: the checkpoint is damaged, and the run goes on from that of step {run.step}"
        for error in damaged.values()
    ]
    if not read_digests(directory.checkpoint(run.step)):
        notices.append(
            f"{directory.checkpoint(run.step)}: was written without digests, so its files cannot be checked"
        )
    for step in set(_steps_to_average(run)) - {run.step}:
        try:
            directory.weights(step).stat()
            check_digest(directory.weights(step))
        except (HeadwayError, OSError) as error:
            damaged[step] = str(error)
            reason = (
                error if isinstance(error, HeadwayError) else f"{directory.weights(step)}: missing"
            )
            notices.append(f"{reason}: the average at the end leaves step {step} out")
    run.state.series = [step for step in run.series if step not in damaged]
    ranks.wait()  # all ranks have read the checkpoints
    if ranks.rank() == 0:
        for step in damaged:
            if directory.checkpoint(step).exists():
                set_aside(directory.checkpoint(step))
    return logs, notices


def _restore(run: Run, step: int, expected: Mapping[str, Tensors]) -> LogLengths:
    """Restore a run from the checkpoint of a step.

    Raises:
        HeadwayError: If a file of the checkpoint is missing, damaged or changed.
    """
    path = run.directory.checkpoint(step)
    tensors, values = run.directory.load(step)
    check_tensors(path, tensors, expected)
    try:
        state, logs = State.from_dict(values), LogLengths.from_dict(values)
    except ValueError as error:
        raise HeadwayError(f"{path / 'state.json'}: {error}") from None
    run.trainer.load(tensors)
    run.trainer.steps = run.saved = step
    if state.series is None:
        every = run.config.training.checkpoint_every
        state.series = [s for s in run.directory.steps() if s <= step and s % every == 0]
    run.state = state
    run.feed = Feed(run.data, run.config.training, run.trainer.device, state.epoch, state.index)
    return logs


def _steps_to_average(run: Run) -> list[int]:
    """Return the steps of those present checkpoints that the average at the end will need."""
    settings = run.config.training
    following = range(run.step + 1, settings.max_steps + 1)
    coming = {step for step in following if step % settings.checkpoint_every == 0}
    last = sorted({*run.series, *coming, settings.max_steps} - {0})[-settings.average :]
    return [step for step in last if step in run.series]
