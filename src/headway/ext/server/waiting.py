"""What waits in the server's queue, and which of it a batch takes next.

Requests take turns, so that a short one overtakes the rest of a long one. One that has waited for half of its deadline
goes first.
"""

import heapq
import itertools
import math
import time
from operator import itemgetter

from headway.ext.server.jobs import JobGroup, QueuedJob, next_turn
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.speed import Speed

LONGEST_WAIT = 0.3  # of the deadline: a request that would wait longer is rejected
LATE = 0.5  # of the deadline: a request that has waited longer goes first
# Rows, on a processor: larger batches gain little, and all wait for the slowest.
LARGEST_BATCH = 64
CHOICE = 4  # a batch is chosen from so many times the rows that it may have, which is quick


class Waiting:
    """Groups of jobs that wait, and the rule for which of them is next.

    Args:
        config: The deadline, and the size of a batch.
        speed: Says how long jobs take.

    Attributes:
        groups: Those with jobs that have not started, the oldest first.
        tokens: Of their jobs, without those of files.
        turn: That of the group whose job started last.
    """

    def __init__(self, config: ServerConfig, speed: Speed) -> None:
        self.config, self.speed = config, speed
        self.groups: list[JobGroup] = []
        self.tokens = 0
        self.turn = 0.0
        self._state: tuple[float, ...] = ()  # for which `_before` is known; see `tokens_before`
        self._before: dict[float, float] = {}

    def add(self, group: JobGroup) -> None:
        """Let a group wait."""
        self.groups.append(group)
        self.tokens += group.load

    def remove(self, group: JobGroup) -> None:
        """Remove what waits of a group, if anything does."""
        if group in self.groups:
            self.groups.remove(group)
            self.tokens -= group.load

    def tokens_before(self, size: float) -> float:
        """Return how many waiting tokens are started before a new request of so many; it overtakes what has later turns."""
        # Under load thousands of requests are rejected between two changes.
        state = self.turn, self.tokens, len(self.groups)
        if state != self._state:
            self._state, self._before = state, {}
        if size not in self._before:
            end = self.turn + size
            self._before[size] = sum(min(g.load, max(0.0, end - g.turn)) for g in self.groups)
        return self._before[size]

    def take_batch(self, idle_workers: int) -> list[QueuedJob]:
        """Take the jobs of the next batch.

        Groups take turns: the next group gives the first job. If that is a row, rows of similar length join it.

        Args:
            idle_workers: They share what there is.
        """
        self._advance_late()
        first = min(self.groups, key=next_turn)
        self.turn = max(self.turn, next_turn(first))
        batch = self._choose_rows(first.waiting[0], idle_workers)
        self.tokens -= sum(job.load for job in batch)
        for job in batch:
            job.group.start(job)
        self.groups = [group for group in self.groups if group.waiting]
        return batch

    def _choose_rows(self, first: QueuedJob, idle_workers: int) -> list[QueuedJob]:
        """Return a row, and rows of similar length that may share its batch."""
        sharing = [group for group in self.groups if group.key == first.group.key]
        tokens, extra = first.request.batch_limits(self.config.batch_tokens)
        largest = LARGEST_BATCH * tokens // self.config.batch_tokens
        in_turn = heapq.merge(*(group.turns() for group in sharing), key=itemgetter(0))
        choice = [job for _, job in itertools.islice(in_turn, CHOICE * largest)]
        waiting = sum(len(group.waiting) for group in sharing)
        largest = max(1, min(largest, math.ceil(waiting / idle_workers)))
        choice.sort(key=lambda job: (job is not first, abs(job.tokens - first.tokens)))
        batch, longest = [first], first.tokens
        for job in choice[1:]:
            longest = max(longest, job.tokens)
            if len(batch) == largest or (longest + extra) * (len(batch) + 1) > tokens:
                break
            batch.append(job)
        return batch

    def _advance_late(self) -> None:
        """Let requests go first that have waited long, if they may still be ready in time."""
        now, deadline = time.monotonic(), self.config.deadline
        late = now - LATE * deadline
        for group in itertools.takewhile(lambda group: group.queued_at < late, self.groups):
            left = min(LONGEST_WAIT * deadline, group.queued_at + deadline - now)
            if not group.is_file and self.speed.seconds_for(group.work) <= left:
                group.turn = -math.inf
