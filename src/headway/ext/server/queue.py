"""The queue in which the requests of all clients share batches.

The queue is bounded by tokens and by texts, and feeds a few worker threads; `waiting.py` says whose turn it
is. The queue lives in the event loop's thread, so that it needs no locks.
"""

import asyncio
import math
import time
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headway.ext.server.jobs import AnyRequest, JobGroup, QueuedJob, load_of, run_batch
from headway.ext.server.metrics import Metrics
from headway.ext.server.rejection import overloaded, too_long
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.speed import Speed
from headway.ext.server.text_threads import TextThreads, lower_priority
from headway.ext.server.waiting import LONGEST_WAIT, Waiting
from headway.translation import Find, Read

OVERTAKEN = 4  # a request counts as at least so many usual texts, because shorter ones that come later overtake it
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
        self.threads = TextThreads()
        self.speed = Speed(workers, LONGEST_WAIT * config.deadline)
        self.waiting = Waiting(config, self.speed)
        # Without those of files: little of a file waits at once, and nobody is rejected for it.
        self.running_tokens = 0  # being translated
        self.texts = 0  # waiting or being translated
        self.typical_text = 0.0  # tokens of recent texts, on average
        self._running: set[asyncio.Task[None]] = set()

    async def ask(
        self,
        requests: Sequence[AnyRequest],
        texts: int = 1,
        is_admitted: bool = False,
        is_file: bool = False,
    ) -> list[Any]:
        """Return the answer to each request, from batches that it shares with those of other clients.

        If the caller is cancelled, its requests leave the queue, or their batch at its next step.

        Args:
            requests: Of all texts of a client. A call should take no longer than the translation of a sentence.
            texts: Texts that they belong to.
            is_admitted: The client has passed `check_room` before, and is not rejected halfway.
            is_file: The requests are some of a file, which is always admitted.

        Raises:
            Rejection: 429 if the queue is full, 400 if the requests would never fit into it.
        """
        if not (is_admitted or is_file):
            self.check_room(sum(load_of(request.tokens) for request in requests))
        loop = asyncio.get_running_loop()
        groups: dict[Hashable, JobGroup] = {}
        jobs: list[QueuedJob] = []
        for request in requests:
            key = request.key
            if key not in groups:
                is_counted = not (is_file or isinstance(request, Read))
                done = loop.create_future()
                groups[key] = JobGroup(key, self.waiting.turn, done, is_file, is_counted)
            jobs.append(groups[key].add(request))
        searched = sum(job.work for job in jobs if isinstance(job.request, Find))
        if searched and texts and not (is_admitted or is_file):
            self.typical_text = 0.95 * self.typical_text + 0.05 * searched / texts
        return await self._finish([*groups.values()], jobs, 0 if is_file else texts)

    def expected_seconds(self, tokens: int = 0) -> float:
        """Return how long all that waits and so many further tokens take; 0 if the speed is unknown."""
        return self.speed.seconds_for(self.waiting.tokens + self.running_tokens + tokens)

    def retry_after(self, tokens: int = 0, ahead: int = 0) -> int:
        """Return after how many seconds a request should come again that finds no room, or would wait too long; 0: it finds room.

        Args:
            tokens: Of the request, as far as they are known.
            ahead: Other requests, which are still being read.
        """
        ahead_tokens = round(ahead * self.typical_text)
        if not self._is_overloaded(tokens, ahead, ahead_tokens):
            return 0
        self.metrics.rejected.inc()
        return max(1, min(60, math.ceil(self.expected_seconds(tokens + ahead_tokens))))

    def _is_overloaded(self, tokens: int, ahead: int, ahead_tokens: int) -> bool:
        if self.texts + ahead >= self.config.queue_texts:
            return True
        if all(group.is_file for group in self.waiting.groups):
            return False
        if self.waiting.tokens + ahead_tokens + tokens > self.config.queue_tokens:
            return True
        size = max(tokens, OVERTAKEN * self.typical_text)
        before = self.running_tokens + ahead_tokens + self.waiting.tokens_before(size)
        return self.speed.seconds_for(before + tokens) > LONGEST_WAIT * self.config.deadline

    def check_room(self, tokens: int = 0) -> None:
        """Reject a request of so many tokens if there is no room for it, or no time.

        Raises:
            Rejection: 429; 400 if there never is room.
        """
        if tokens > self.config.queue_tokens:
            raise too_long(tokens, self.config.queue_tokens)
        if seconds := self.retry_after(tokens):
            raise overloaded(seconds)

    async def _finish(
        self, groups: Sequence[JobGroup], jobs: Sequence[QueuedJob], texts: int
    ) -> list[Any]:
        """Queue the jobs of groups, of so many texts besides those of files, and return their results when all are done."""
        if not jobs:
            return []
        for group in groups:
            self.waiting.add(group)
        self.texts += texts
        self._start_batches()
        try:
            await asyncio.gather(*(group.done for group in groups))
            return [job.result for job in jobs]
        except asyncio.CancelledError:
            self.metrics.cancelled.inc()
            raise
        finally:
            self.texts -= texts
            for group in groups:
                group.is_cancelled = True  # what is unfinished is in vain
                group.done.cancel()
                self.waiting.remove(group)

    def _start_batches(self) -> None:
        """Give the idle workers batches; requests that come meanwhile share the next."""
        while self.idle_workers and self.waiting.groups:
            batch = self.waiting.take_batch(self.idle_workers)
            self.idle_workers -= 1
            self.running_tokens += sum(job.load for job in batch)
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, batch: list[QueuedJob]) -> None:
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

    def _measure(self, batch: list[QueuedJob], seconds: float) -> None:
        """Update the speed and the metrics after a batch."""
        tokens = sum(job.tokens for job in batch)
        self.running_tokens -= sum(job.load for job in batch)
        if isinstance(batch[0].request, Find):
            self.speed.add_batch(sum(job.work for job in batch), seconds)
        else:
            self.speed.add_other_work(seconds)
        if not self.waiting.groups:
            self.speed.pause()
        self.metrics.tokens.inc(tokens)
        self.metrics.segments.inc(len(batch))
        self.metrics.batch_segments.observe(len(batch))
        self.metrics.batch_seconds.observe(seconds)

    async def close(self) -> None:
        """Wait for the work that has started."""
        while self._running:
            await asyncio.wait(self._running)
        await asyncio.to_thread(self.pool.shutdown, cancel_futures=True)
        await asyncio.to_thread(self.threads.close)
