"""Carry out a training in a terminal: show what happens, and stop and save on a signal."""

import os
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING

from headway.cli import launch
from headway.cli.display import Display
from headway.cli.process import prepare
from headway.cli.signals import forced_end, remember_signals
from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.training.run import Run
    from headway.training.starting.plan import RunPlan


def train_and_show(plan: "RunPlan", *, quiet: bool, ranks: int = 0) -> int:
    """Start or resume the run that is planned and train it; return the exit code.

    Args:
        plan: Its corpora are files, not names; its directory is locked, unless a launcher has started this process.
        quiet: Print nothing but errors.
        ranks: How many processes share the work; 0: one for each core or GPU that helps.
    """
    from headway.training import parallel
    from headway.training.machine import count_ranks
    from headway.training.starting.opening import prepare_text
    from headway.training.starting.plan import make_plan
    from headway.training.storage.run_directory import RunDirectory

    directory, training = plan.directory, plan.settings.training
    ranks = count_ranks(plan.machine, training, ranks)
    if launch.is_launched():
        parallel.join()
        try:
            if parallel.rank() == 0:
                directory.lock()
            parallel.wait_for_first()
            if directory.started:
                plan = make_plan(directory, plan.request)  # of what is there under the lock
            return train_rank(plan, quiet)
        finally:
            directory.unlock()
            parallel.leave()
    if ranks == 1:
        return train_rank(plan, quiet)
    notices = prepare_text(plan)  # here, because standard input is not that of the ranks
    if notices and not quiet:
        print(*notices, sep="\n", file=sys.stderr)
    last = -1  # step from which the ranks were started again
    while True:
        shared = replace(plan, directory=RunDirectory(directory.path), is_prepared=True)
        try:
            return launch.launch(_be_rank, (shared, quiet), ranks)
        except launch.RankKilled as error:
            if (step := max(directory.steps(), default=-1)) == last:
                raise HeadwayError(
                    f"{error}; SIGKILL usually means that memory ran out: give the same command again, with less"
                    " memory by --ranks 1 or a lower --training.micro-batch-tokens"
                ) from None
            last = step
            print(f"{error}; the training goes on from its last checkpoint", file=sys.stderr)
            plan = make_plan(directory, plan.request)  # of what the ranks have left


def _be_rank(plan: "RunPlan", quiet: bool) -> int:
    """Run one rank in a new process; its parent process holds the lock of the run directory."""
    try:
        if os.environ["RANK"] == "0":
            plan.directory.lock_with_parent()
        return train_rank(plan, quiet)
    finally:
        plan.directory.unlock()


def train_rank(plan: "RunPlan", quiet: bool) -> int:
    """Be one rank of a training, or the only one; return the exit code."""
    import torch

    from headway.training import parallel
    from headway.training.machine import configure_process
    from headway.training.starting.opening import open_run
    from headway.training.steps.optimizers import warn_if_too_short

    parallel.join()
    quiet = quiet or parallel.rank() > 0
    path = plan.directory.path
    try:
        if parallel.rank() == 0:
            prepare("training", torch.device("cpu"), quiet=quiet)
        parallel.wait_for_first()
        configure_process(plan.machine.threads_per_rank)
        run, notices = open_run(plan)
        if not quiet:
            print(*notices, sep="\n", end="\n" if notices else "", file=sys.stderr)
        if run is None:
            if parallel.rank() == 0:
                or_patience = " or --training.patience" if plan.settings.training.patience else ""
                print(
                    f"{path}: finished; raise --training.max-steps{or_patience} to train further",
                    file=sys.stderr,
                )
            return 0
        configure_process(device=run.machine.torch_device)
        display = Display(run, quiet=quiet)
        if run.step:
            display.say(f"{path}: resumed at step {run.step}")
        elif warning := warn_if_too_short(run.config.training):
            display.say(warning)
        return follow(run, display)
    finally:
        parallel.leave()


def follow(run: "Run", display: Display) -> int:
    """Train and show what happens; on a signal, save the run and stop. Returns the exit code."""
    from headway.training import parallel
    from headway.training.run import Notice, run_to_end
    from headway.training.tensorboard import TensorBoard

    with ExitStack() as stack:
        signals = stack.enter_context(remember_signals())
        stack.enter_context(forced_end(limit=None))
        watchers: list[Display | TensorBoard] = [stack.enter_context(display)]
        if run.config.training.tensorboard and parallel.rank() == 0:
            board = TensorBoard(run.directory.path / "tensorboard", run.step)
            watchers.append(stack.enter_context(closing(board)))
        for event in stack.enter_context(closing(run_to_end(run))):
            for watcher in watchers:
                watcher.show(event)
            # All ranks stop after the same event, whichever of them received the signal.
            if not isinstance(event, Notice):
                (received,) = parallel.maximum([max(signals, default=0)])
                if received:
                    run.save()
                    break
        else:
            assert run.record.installed is not None
            scores = run.record.installed.headline
            end = (
                "finished" if run.is_at_end else f"finished at step {run.step} by training.patience"
            )
            display.say(f"{run.directory.path}: {end}; its model has {scores}")
            return 0
    display.say(f"saved at step {run.step}; to resume: headway train {run.directory.path}")
    return 128 + received
