"""What waits in the server's queue: requests of jobs, and other calls."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headway.translation import Find, Read


class Call(NamedTuple):
    """Asks for a call of a function, such as one that draws attention maps; it shares its batch with nothing.

    Attributes:
        function: What is called.
        tokens: Source tokens that it is about.
    """

    function: Callable[[], Any]
    tokens: int

    @property
    def key(self) -> Hashable:
        """What must be equal for calls to share a batch: no two calls do."""
        return self

    def batch_limits(self, tokens: int) -> tuple[int, int]:
        """Return how many tokens a batch may have: those of this call; and how many it counts besides its own: none."""
        return tokens, 0

    @staticmethod
    def answer_batch(requests: "Sequence[Call]", is_wanted: Callable[[int], bool]) -> list[Any]:
        """Call each function unless its job was cancelled; then the answer is None."""
        return [each.function() if is_wanted(n) else None for n, each in enumerate(requests)]


AnyRequest = Find | Read | Call
# A request counts as at least so many tokens: each takes memory and time besides its translation, and a text of short lines
# has thousands.
LEAST_LOAD = 10


def load_of(tokens: int) -> int:
    """Return for how many tokens a request of so many counts."""
    return max(LEAST_LOAD, tokens)


@dataclass(eq=False)
class JobGroup:
    """The jobs that a request waits for at one time.

    Attributes:
        key: What jobs have in common that may share a batch.
        turn: That of the queue when the group came, and the tokens of the group that have started since; -inf: the
            group goes first.
        done: Set by the event loop when all jobs are done, or the first has failed.
        is_file: Whether the work is for a file, for which nobody is rejected.
        is_counted: Whether others are rejected if there is too much of it: not for files, nor for reading what was found.
        queued_at: Time in seconds.
        waiting: The jobs that have not started.
        work: Of the waiting jobs, in tokens.
        unfinished: Jobs that wait or run.
        is_cancelled: Nobody waits for the results. The event loop sets it, a worker thread reads it.
    """

    key: Hashable
    turn: float
    done: asyncio.Future[None]
    is_file: bool = False
    is_counted: bool = True
    queued_at: float = field(default_factory=time.monotonic)
    waiting: deque["QueuedJob"] = field(default_factory=deque)
    work: int = 0
    unfinished: int = 0
    is_cancelled: bool = False

    @property
    def load(self) -> int:
        """Tokens for which others are rejected if there are too many."""
        return self.work if self.is_counted else 0

    def turns(self) -> "Iterator[tuple[float, QueuedJob]]":
        """Yield each waiting job with the turn of the group when it has got this job."""
        turn = self.turn
        for job in self.waiting:
            turn += job.work
            yield turn, job

    def add(self, request: AnyRequest) -> "QueuedJob":
        """Add a job before the group waits."""
        job = QueuedJob(self, request)
        self.waiting.append(job)
        self.work += job.work
        self.unfinished += 1
        return job

    def start(self, job: "QueuedJob") -> None:
        """Take a job, one of the first, from those that wait."""
        self.waiting.remove(job)
        self.work -= job.work
        self.turn += job.work


@dataclass(eq=False)
class QueuedJob:
    """What a client waits for.

    Attributes:
        group: The jobs of the same client.
        request: What is asked for.
        result: What came of it, when the group is done.
    """

    group: JobGroup
    request: AnyRequest
    result: Any = None

    @property
    def tokens(self) -> int:
        """Source tokens that the request is about."""
        return self.request.tokens

    @property
    def work(self) -> int:
        """Tokens for which it counts."""
        return load_of(self.tokens)

    @property
    def load(self) -> int:
        """Tokens for which others are rejected if there are too many."""
        return self.work if self.group.is_counted else 0

    def finish(self, result: object) -> None:
        """Keep the result, or the exception that the work raised."""
        group = self.group
        group.unfinished -= 1
        if group.done.done():
            return
        if isinstance(result, BaseException):
            group.done.set_exception(result)
            return
        self.result = result
        if not group.unfinished:
            group.done.set_result(None)


def next_turn(group: JobGroup) -> float:
    """Return the turn of a group when it has got its next job; the group with the lowest is next."""
    return group.turn + group.waiting[0].work


def run_batch(batch: Sequence[QueuedJob]) -> list[object]:
    """Do the work of a batch.

    Returns:
        For each job its result, or the exception that it raised. If the batch fails, each job runs
        by itself, so that one bad row fails alone.
    """
    requests: list[Any] = [job.request for job in batch]
    try:
        answers: list[object] = requests[0].answer_batch(
            requests, lambda number: not batch[number].group.is_cancelled
        )
        return answers
    except Exception as error:
        if len(batch) == 1:
            return [error]
        return [result for job in batch for result in run_batch([job])]
