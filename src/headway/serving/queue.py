"""The queue in which the requests of all clients share batches.

The queue is bounded by tokens and by texts, and feeds a few worker threads. If recent batches had
several segments, a batch waits a few milliseconds for more requests. Requests take turns, so that a
short one overtakes the rest of a long one; a request that has waited for half of its deadline goes
first. The queue lives in the event loop's thread, so that it needs no locks.
"""

import asyncio
import heapq
import itertools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from typing import Any, TypeVar

from headway.config import SearchConfig, ServerConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.serving.jobs import Job, JobGroup, SegmentSearch, next_turn, run_batch
from headway.serving.metrics import Metrics
from headway.serving.rejection import overloaded, too_long
from headway.serving.speed import Speed

T = TypeVar("T")
LONGEST_WAIT = 0.3  # of the deadline: a request that would wait longer is rejected
LATE = 0.5  # of the deadline: a request that has waited longer goes first
# Segments, on a processor: larger batches gain little, and all wait for the slowest.
LARGEST_BATCH = 64
OVERTAKEN = 4  # a request counts as at least so many usual texts, because shorter ones that come later overtake it
CHOICE = 4  # a batch is chosen from so many times the segments that it may have, which is quick
WORKER_NICENESS = 5  # above the event loop's, which then gets most of a shared core
SHORT_REQUEST = 2_000  # characters that the event loop splits itself: about a millisecond
RESULTS_AT_ONCE = 4  # results that are delivered before other requests get the event loop


class TranslationQueue:
    """Forms batches and has worker threads translate them.

    Args:
        workers: Threads; each translates one batch at a time.
        config: Limits of the queue and of a batch.
        metrics: Counts batches and rejections.
    """

    def __init__(self, workers: int, config: ServerConfig, metrics: Metrics) -> None:
        self.config, self.metrics = config, metrics
        self.workers = self.idle_workers = workers
        self.pool = ThreadPoolExecutor(workers, "translate", initializer=lower_priority)
        # Long requests are split and joined in one thread, so that the event loop competes with one.
        self.text_pool = ThreadPoolExecutor(1, "text", initializer=lower_priority)
        # A file may hold one text of megabytes, for which the requests of others must not wait.
        self.file_pool = ThreadPoolExecutor(config.file_jobs, "file", initializer=lower_priority)
        self.groups: list[JobGroup] = []  # those with jobs that have not started; the oldest first
        # Without those of files: little of a file waits at once, and nobody is rejected for it.
        self.tokens = 0  # waiting
        self.running_tokens = 0  # being translated
        self.texts = 0  # waiting or being translated
        self.turn = 0.0  # of the group whose job started last
        self.typical_batch = 1.0  # segments in recent batches, on average
        self.typical_text = 0.0  # tokens of recent texts, on average
        self._longest_wait = LONGEST_WAIT * config.deadline
        self._state: tuple[float, ...] = ()  # for which `_before` is known; see `_tokens_before`
        self._before: dict[float, float] = {}
        self.speed = Speed(workers, self._longest_wait)
        self._timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def translate(
        self,
        translator: Translator,
        search: SearchConfig,
        segments: Sequence[Segment],
        texts: int = 1,
        is_admitted: bool = False,
        is_file: bool = False,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of segments, as `Translator.search_batch` does.

        If the caller is cancelled, its segments leave the queue, or their batch at its next step.

        Args:
            translator: The model.
            search: Search settings.
            segments: Of all texts of a request.
            texts: Texts that the segments belong to.
            is_admitted: The request has passed `check_room` before, and is not rejected halfway.
            is_file: The segments are some of a file, which is always admitted.

        Raises:
            Rejection: 429 if the queue is full, 400 if the segments would never fit into it.
        """
        sizes = [len(segment.ids) for segment in segments]
        group = self._make_group(
            SegmentSearch(translator, search), segments, sizes, is_admitted, is_file
        )
        return await self._finish(group, 0 if is_file else texts)

    async def run(
        self,
        calls: Sequence[Callable[[], T]],
        sizes: Sequence[int],
        is_admitted: bool = False,
        is_file: bool = False,
        texts: int = 1,
    ) -> list[T]:
        """Have worker threads call functions, each when its turn comes.

        If the caller is cancelled, no further call begins.

        Args:
            calls: Each should take no longer than the translation of a sentence.
            sizes: Source tokens that each call is about.
            is_admitted: As for `translate`.
            is_file: As for `translate`.
            texts: Texts that the calls are about.

        Raises:
            Rejection: As for `translate`.
        """
        group = self._make_group(None, calls, sizes, is_admitted, is_file)
        return await self._finish(group, 0 if is_file else texts)

    async def run_text_work(
        self, characters: int, work: Callable[[], T], is_file: bool = False
    ) -> T:
        """Split or join texts: at once if they are short, and in a thread if they are long or of a file."""
        if is_file:
            return await self.run_file_work(work)
        if characters < SHORT_REQUEST:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self.text_pool, work)

    async def run_file_work(self, work: Callable[[], T]) -> T:
        """Call a function for a file, in a thread.

        If the caller is cancelled, it waits until the thread has ended: a file has a place as long as a thread works
        for it, so that clients that leave cannot have more threads than there are places.
        """
        running = asyncio.get_running_loop().run_in_executor(self.file_pool, work)
        try:
            return await asyncio.shield(running)
        finally:
            await asyncio.wait([running])

    def expected_seconds(self, tokens: int = 0) -> float:
        """Return how long all that waits and so many further tokens take; 0 if the speed is unknown."""
        return self.speed.seconds_for(self.tokens + self.running_tokens + tokens)

    def is_overloaded(self, tokens: int = 0, ahead: int = 0) -> bool:
        """Return whether a request finds no room, or would wait too long; see `reject_if_full`."""
        if self.texts >= self.config.queue_texts:
            return True
        if all(group.is_file for group in self.groups):
            return False
        if self.tokens + ahead + tokens > self.config.queue_tokens:
            return True
        before = self.running_tokens + ahead + self._tokens_before(tokens)
        return self.speed.seconds_for(before + tokens) > self._longest_wait

    def _tokens_before(self, tokens: int) -> float:
        """Return what is translated before a request of so many tokens is done; it overtakes what has later turns.

        Shorter requests will overtake it, too, so it counts as one of several times the usual size at least.
        """
        size = max(tokens, OVERTAKEN * self.typical_text)
        # Under load thousands of requests are rejected between two changes of the queue.
        state = self.turn, self.tokens, len(self.groups)
        if state != self._state:
            self._state, self._before = state, {}
        if size not in self._before:
            end = self.turn + size
            self._before[size] = sum(min(g.load, max(0.0, end - g.turn)) for g in self.groups)
        return self._before[size]

    def check_room(self, tokens: int = 0) -> None:
        """Reject a request of so many tokens if there is no room for it, or no time.

        Raises:
            Rejection: 429; 400 if there never is room.
        """
        if tokens > self.config.queue_tokens:
            raise too_long(tokens, self.config.queue_tokens)
        self.reject_if_full(tokens)

    def reject_if_full(self, tokens: int = 0, ahead: int = 0) -> None:
        """Reject a request if it finds no room in the queue now, or no time.

        Args:
            tokens: Of the request, as far as they are known.
            ahead: Of other requests, which are still being read.

        Raises:
            Rejection: 429.
        """
        if self.is_overloaded(tokens, ahead):
            self.metrics.rejected.inc()
            raise overloaded(max(1, min(60, math.ceil(self.expected_seconds(tokens + ahead)))))

    def _make_group(
        self,
        search: SegmentSearch | None,
        work: Sequence[Segment] | Sequence[Callable[[], object]],
        sizes: Sequence[int],
        is_admitted: bool,
        is_file: bool,
    ) -> JobGroup:
        if not (is_admitted or is_file):
            self.check_room(sum(sizes))
        done = asyncio.get_running_loop().create_future()
        group = JobGroup(search, self.turn, time.monotonic(), done, is_file)
        group.waiting = [Job(group, item, size) for item, size in zip(work, sizes, strict=True)]
        group.tokens, group.unfinished = sum(sizes), len(sizes)
        return group

    async def _finish(self, group: JobGroup, texts: int) -> list[Any]:
        """Queue jobs, of so many texts besides those of files, and return their results when all are done."""
        jobs = group.waiting
        if not jobs:
            return []
        if texts and group.search is not None:
            self.typical_text = 0.95 * self.typical_text + 0.05 * group.load / texts
        self.groups.append(group)
        self.tokens += group.load
        self.texts += texts
        self._start_batches()
        try:
            await group.done
            return [job.result for job in jobs]
        except asyncio.CancelledError:
            self.metrics.cancelled.inc()
            raise
        finally:
            self.texts -= texts
            group.is_cancelled = True  # what is unfinished is in vain
            if group in self.groups:
                self.groups.remove(group)
                self.tokens -= group.load

    def _start_batches(self) -> None:
        """Give the idle workers batches, unless it is worth waiting for more requests."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self.idle_workers and self.groups:
            waiting = sum(len(group.waiting) for group in self.groups)
            if self.typical_batch > 1.5 and waiting < LARGEST_BATCH:
                waited = time.monotonic() - self.groups[0].queued_at
                left = self.config.wait_ms / 1000 - waited
                if left > 0:
                    loop = asyncio.get_running_loop()
                    self._timer = loop.call_later(left, self._start_batches)
                    return
            self.idle_workers -= 1
            task = asyncio.get_running_loop().create_task(self._run(self._take_batch()))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _take_batch(self) -> list[Job]:
        """Take jobs of the group whose turn it is, and segments of others that may share their batch."""
        self._advance_late()
        first = min(self.groups, key=next_turn)
        self.turn = max(self.turn, next_turn(first))
        if first.search is None:
            batch = first.waiting[:1]
        else:
            batch = self._choose_segments(first, first.search)
            self.typical_batch = 0.8 * self.typical_batch + 0.2 * len(batch)
        size = sum(job.load for job in batch)
        self.tokens -= size
        self.running_tokens += size
        started = set(batch)
        for group in {job.group for job in batch}:
            group.start(started)
        self.groups = [group for group in self.groups if group.waiting]
        return batch

    def _choose_segments(self, first: JobGroup, search: SegmentSearch) -> list[Job]:
        """Return the next segment of a group, and segments of similar length that may share its batch."""
        sharing = [group for group in self.groups if search.can_share_batch(group.search)]
        tokens, extra = search.batch_limits(self.config.batch_tokens)
        largest = LARGEST_BATCH * tokens // self.config.batch_tokens
        in_turn = heapq.merge(*(group.turns() for group in sharing), key=itemgetter(0))
        choice = [job for _, job in itertools.islice(in_turn, CHOICE * largest)]
        # The idle workers share what there is.
        waiting = sum(len(group.waiting) for group in sharing)
        largest = max(1, min(largest, math.ceil(waiting / (self.idle_workers + 1))))
        choice.sort(
            key=lambda job: (job is not first.waiting[0], abs(job.tokens - first.waiting[0].tokens))
        )
        batch, longest = choice[:1], choice[0].tokens
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
            left = min(self._longest_wait, group.queued_at + deadline - now)
            if not group.is_file and self.speed.seconds_for(group.tokens) <= left:
                group.turn = -math.inf

    async def _run(self, batch: list[Job]) -> None:
        started = time.monotonic()
        results = await asyncio.get_running_loop().run_in_executor(self.pool, run_batch, batch)
        seconds = time.monotonic() - started
        self._measure(batch, seconds)
        self.idle_workers += 1
        self._start_batches()
        for number, (job, result) in enumerate(zip(batch, results, strict=True), 1):
            job.finish(result)
            if number % RESULTS_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _measure(self, batch: list[Job], seconds: float) -> None:
        """Update the speed and the metrics after a batch."""
        tokens = sum(job.tokens for job in batch)
        self.running_tokens -= sum(job.load for job in batch)
        if batch[0].group.search is not None:
            self.speed.add_batch(tokens, seconds)
        else:
            self.speed.add_other_work(seconds)
        if not self.groups:
            self.speed.pause()
        self.metrics.tokens.inc(tokens)
        self.metrics.segments.inc(len(batch))
        self.metrics.batch_segments.observe(len(batch))
        self.metrics.batch_seconds.observe(seconds)

    async def close(self) -> None:
        """Wait for the work that has started."""
        while self._running:
            await asyncio.wait(self._running)
        for pool in (self.pool, self.text_pool, self.file_pool):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)


def lower_priority() -> None:
    """Give the event loop priority over the calling thread where they share a core."""
    if sys.platform == "linux":  # elsewhere threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), WORKER_NICENESS)
