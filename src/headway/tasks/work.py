"""The loop in which a process does tasks until the job is complete."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from headway.errors import HeadwayError
from headway.tasks.claims import Claims
from headway.tasks.ledger import Ledger

SHORTEST, LONGEST = 0.01, 1.0  # seconds to wait for tasks of other processes


class Task(NamedTuple):
    """A part of a job.

    Args:
        name: As `headway.tasks.ledger.task_name` makes it.
        run: Writes the result of the task to an empty directory. The same task writes the same bytes.
    """

    name: str
    run: Callable[[Path], None]


class Job(Protocol):
    """Tasks that depend on each other."""

    @property
    def is_complete(self) -> bool:
        """Whether all tasks are finished."""

    def list_ready(self) -> list[Task]:
        """Return the unfinished tasks whose inputs are there, in the order in which to do them."""


def work(job: Job, ledger: Ledger, claims: Claims) -> Iterator[Task]:
    """Do tasks that no other process does, and yield each finished one, until the job is complete.

    Returns early if the directory of the ledger is removed, because another process has ended the work.

    Raises:
        HeadwayError: If a task has failed, here or in another process.
    """
    pause = SHORTEST
    while ledger.exists and not job.is_complete:
        if reason := ledger.failure():
            raise HeadwayError(reason)
        try:
            task = next((task for task in job.list_ready() if claims.take(task.name)), None)
            if task:
                _do(task, ledger, claims)
        except OSError:
            if not ledger.exists:
                return
            raise
        if task:
            pause = SHORTEST
            yield task
        else:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)


def _do(task: Task, ledger: Ledger, claims: Claims) -> None:
    try:
        if not ledger.is_done(task.name):
            with ledger.commit(task.name) as directory:
                task.run(directory)
    except OSError:
        # Another process may have finished the task meanwhile, and deleted what this one reads.
        if not ledger.is_done(task.name):
            raise
    finally:
        claims.release(task.name)
