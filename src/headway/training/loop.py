"""The training loop: what happens after each step, and when a run ends."""

from collections.abc import Generator

from headway.training import parallel
from headway.training.dry_run import make_dry_run
from headway.training.run import Run
from headway.training.storage.state import Event, Notice


def run_to_end(run: Run) -> Generator[Event, None, None]:
    """Train to the end and yield what happens; a caller that stops early leaves a saved run.

    With several ranks, the caller saves it (`Run.save`) when all ranks stop after the same event: a rank that
    stops alone, because of an error, cannot write a checkpoint without the others.

    A checkpoint holds the state before the validation of its step, so a run that is resumed from it
    validates.

    A dry run precedes a new run. Only then is `run.json` written, which makes its directory a run.

    Args:
        run: New or resumed. A caller that stops early closes the iterator (`contextlib.closing`).

    Yields:
        A `StepReport` for each step, `ProgressReport` during and a `ValidationReport` after each
        validation, and a `Notice` for each message to the user.
    """
    if not run.directory.started:
        dry_run = make_dry_run(run)
        run.begin()
        yield Notice(text=f"{run.directory.path}: {dry_run}")
    try:
        while True:
            if run.is_checkpoint_due or run.is_save_due:
                run.save()
            if run.is_validation_due:
                yield from run.validate()
            if run.is_at_end or run.is_out_of_patience:
                break
            yield from run.advance()
        run.save()
        yield from run.finish()
    except GeneratorExit:
        if parallel.world_size() == 1:
            run.save()
        raise
