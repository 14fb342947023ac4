"""Requests of different clients share batches.

A queue, bounded by tokens and by texts, feeds a few threads. Nobody waits while a thread is idle
and the server is; when requests come close together, a batch waits a few milliseconds for more. The
queue lives in the event loop's thread, so that nothing is locked.
"""

import asyncio
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from headway.config import SearchConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.serving.metrics import Metrics
from headway.serving.part import Part, work_on
from headway.serving.refusal import busy, too_long
from headway.serving.settings import ServerConfig

T = TypeVar("T")
SHARE = 0.4  # of the deadline that a request may expect to wait: later answers would come too late
LARGEST = 64  # parts in a batch: larger ones gain little, and all wait for the slowest
BEHIND = 5  # how much nicer than the event loop threads are: it gets three quarters if it must
SHORT = 2_000  # characters of a request that the event loop may cut up itself: about a millisecond
TOLD = 4  # answers given out at a time: others' requests are looked at in between


class Batcher:
    """Forms batches and has them translated.

    Args:
        workers: Threads, each working on a batch of its own.
        limits: Of the queue and of a batch.
        metrics: Told about batches.
    """

    def __init__(self, workers: int, limits: ServerConfig, metrics: Metrics) -> None:
        self.limits, self.metrics = limits, metrics
        self.workers = self.idle = workers
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="translate", initializer=yield_)
        # Alone, so that the event loop shares the interpreter with one and not with many.
        self.desk = ThreadPoolExecutor(1, thread_name_prefix="desk", initializer=yield_)
        self.queue: list[Part] = []
        self.tokens = 0  # waiting
        self.texts = 0  # waiting or being translated
        self.turn = 0.0  # of the part that was taken last
        self.crowd = 1.0  # parts in recent batches, on average
        self.speed = 0.0  # tokens a second, of all workers together; 0: not known
        self.done = self.busy = 0.0  # recent tokens, and the seconds they took
        self.ended: float | None = None  # when a batch last ended, if others were waiting then
        self.timer: asyncio.TimerHandle | None = None
        self.running: set[asyncio.Task[None]] = set()

    async def find(
        self,
        translator: Translator,
        search: SearchConfig,
        parts: Sequence[Segment],
        lengths: Sequence[int],
        texts: int = 1,
        begun: bool = False,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of some parts, as `Translator.search_batch` does.

        If the caller is cancelled, its parts leave the queue, or their batch at its next step.

        Args:
            translator: Who finds them.
            search: How.
            parts: Of all texts of a request.
            lengths: Their tokens.
            texts: Whose parts they are.
            begun: Whether the request has been let in before: it is not refused halfway.

        Raises:
            Refusal: 429 if the queue is full, 400 if they would never fit into it.
        """
        waiting = self._parts(lengths, begun)
        for part, segment in zip(waiting, parts, strict=True):
            part.segment, part.translator, part.search = segment, translator, search
        return await self._wait(waiting, texts)

    async def work(
        self, jobs: Sequence[Callable[[], T]], lengths: Sequence[int], begun: bool = False
    ) -> list[T]:
        """Have some other work done by threads, each job when its turn comes.

        If the caller is cancelled, no further job begins.

        Args:
            jobs: What to do; each should take no longer than a sentence.
            lengths: Tokens that each is about.
            begun: As `find` has it.

        Raises:
            Refusal: As `find` does.
        """
        waiting = self._parts(lengths, begun)
        for part, job in zip(waiting, jobs, strict=True):
            part.work = job
        return await self._wait(waiting)

    async def aside(self, size: int, work: Callable[[], T]) -> T:
        """Do what is to be done before or after waiting; on long texts in a thread of its own.

        Args:
            size: Characters of the request.
            work: Cuts texts, or puts them together.
        """
        if size < SHORT:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self.desk, work)

    def check(self, total: int) -> None:
        """Refuse a request of so many tokens if there is no room for it, or no time.

        Raises:
            Refusal: 429; 400 if there never is.
        """
        if total > self.limits.queue_tokens:
            raise too_long(total, self.limits.queue_tokens)
        expected = (self.tokens + total) / self.speed if self.speed else 0.0
        if self.queue and (
            self.tokens + total > self.limits.queue_tokens
            or self.texts >= self.limits.queue_texts
            or expected > SHARE * self.limits.deadline
        ):
            self.metrics.count("headway_rejected_total")
            raise busy(max(1, min(60, math.ceil(expected))))

    def _parts(self, lengths: Sequence[int], begun: bool) -> list[Part]:
        if not begun:
            self.check(sum(lengths))
        now, loop = time.monotonic(), asyncio.get_running_loop()
        parts, turn = [], self.turn
        for length in lengths:
            # A short request overtakes the far parts of a long one: each gets its share.
            turn += length
            parts.append(Part(None, length, None, None, None, loop.create_future(), turn, now))
        return parts

    async def _wait(self, parts: list[Part], texts: int = 1) -> list[Any]:
        self.queue += parts
        self.tokens += sum(part.tokens for part in parts)
        self.texts += texts
        self._pump()
        try:
            return await asyncio.gather(*(part.future for part in parts))
        finally:
            self.texts -= texts
            left = {id(part) for part in parts if not part.future.done() or part.future.cancelled()}
            if left:
                for part in parts:
                    part.gone = True
                stay = [part for part in self.queue if id(part) not in left]
                self.tokens -= sum(part.tokens for part in self.queue if id(part) in left)
                self.queue = stay
                self.metrics.count("headway_cancelled_total")

    def _pump(self) -> None:
        """Give the idle threads work, unless it is worth waiting for more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        while self.idle and self.queue:
            if self.crowd > 1.5 and len(self.queue) < LARGEST:
                waited = time.monotonic() - min(part.since for part in self.queue)
                left = self.limits.wait_ms / 1000 - waited
                if left > 0:
                    self.timer = asyncio.get_running_loop().call_later(left, self._pump)
                    return
            self._start(self._take())

    def _take(self) -> list[Part]:
        """Take from the queue whose turn it is, and those of like length that may go with it."""
        first = min(self.queue, key=lambda part: part.turn)
        self.turn = max(self.turn, first.turn)
        others = [part for part in self.queue if part is not first and part.fits(first)]
        others.sort(key=lambda part: (abs(part.tokens - first.tokens), part.turn))
        # Idle threads share what there is.
        most = max(1, min(LARGEST, math.ceil((len(others) + 1) / self.idle)))
        batch, longest = [first], first.tokens
        for part in others:
            longest = max(longest, part.tokens)
            if len(batch) == most or longest * (len(batch) + 1) > self.limits.batch_tokens:
                break
            batch.append(part)
        taken = set(map(id, batch))
        self.queue = [part for part in self.queue if id(part) not in taken]
        self.tokens -= sum(part.tokens for part in batch)
        if first.work is None:
            self.crowd = 0.8 * self.crowd + 0.2 * len(batch)
        return batch

    def _start(self, batch: list[Part]) -> None:
        self.idle -= 1
        task = asyncio.get_running_loop().create_task(self._run(batch))
        self.running.add(task)
        task.add_done_callback(self.running.discard)

    async def _run(self, batch: list[Part]) -> None:
        started = time.monotonic()
        answers = await asyncio.get_running_loop().run_in_executor(self.pool, work_on, batch)
        seconds = time.monotonic() - started
        tokens = sum(part.tokens for part in batch)
        now = time.monotonic()
        if batch[0].work is None:
            # What counts is what all threads finish by the clock: they may share cores with others.
            took = seconds / self.workers if self.ended is None else max(0.0, now - self.ended)
            self.done, self.busy = 0.9 * self.done + tokens, 0.9 * self.busy + took
            self.speed = self.done / max(self.busy, 1e-6)
            self.ended = now
        elif self.ended is not None:
            self.ended += seconds / self.workers  # other work says nothing of how fast searches are
        if not self.queue:
            self.ended = None
        self.metrics.count("headway_tokens_total", tokens)
        self.metrics.count("headway_parts_total", len(batch))
        self.metrics.observe("headway_batch_parts", len(batch))
        self.metrics.observe("headway_batch_seconds", seconds)
        self.idle += 1
        self._pump()
        for number, (part, answer) in enumerate(zip(batch, answers, strict=True), 1):
            if part.future.done():
                continue
            if isinstance(answer, BaseException):
                part.future.set_exception(answer)
            else:
                part.future.set_result(answer)
            if number % TOLD == 0:
                await asyncio.sleep(0)

    async def close(self) -> None:
        """Wait for the work that has begun."""
        while self.running:
            await asyncio.wait(self.running)
        self.pool.shutdown()
        self.desk.shutdown()


def yield_() -> None:
    """Let the event loop go first where this thread shares a core with it."""
    if sys.platform == "linux":  # where a thread has a priority of its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BEHIND)
