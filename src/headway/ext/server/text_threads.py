"""Threads for plain work on text, such as splitting it; what takes too long, or is no longer wanted, is interrupted.

They share the interpreter with the event loop: each further one would keep it waiting longer.
"""

import asyncio
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from queue import PriorityQueue
from typing import Any, Generic, TypeVar

from headway.ext.server.rejection import too_much_work

R = TypeVar("R")
NICENESS = 5  # above the event loop's, which then gets most of a shared core
CHECKED = 0.1  # seconds between two looks at what work has taken
AGAIN = 0.1  # seconds until work is interrupted again that goes on
# Of the processor: ordinary text takes about 5 microseconds a character, and a list of measures ten times as much.
SECONDS, SECONDS_PER_CHARACTER = 2.0, 100e-6
LONG = 2_000  # characters that are too many for the event loop, and for the thread of short texts


class Interrupted(BaseException):
    """Ends work whose client has left, or that has taken too long; ``except Exception`` does not catch it."""


@dataclass
class Account:
    """What the plain work on the texts of a request may take.

    Attributes:
        left: Seconds of the processor.
        size: Of what waits for a thread, that of fewest characters is next.
        lane: The thread: short, long or file.
    """

    left: float = SECONDS
    size: int = 0
    lane: str = "short"

    @classmethod
    def for_characters(cls, count: int, is_file: bool = False) -> "Account":
        """Return the account of a request, or a file, with so many characters."""
        lane = "file" if is_file else "long" if count >= LONG else "short"
        return cls(SECONDS + SECONDS_PER_CHARACTER * count, count, lane)


class TextThreads:
    """A thread for short texts, one for long ones and one for files, so that none of them keeps shorter ones waiting."""

    def __init__(self) -> None:
        self._lanes = {name: _Lane(name) for name in ("short", "long", "file")}

    async def run(self, function: Callable[[], R], account: Account) -> R:
        """Return what a function returns.

        If the caller is cancelled, or the account is empty, the function is interrupted. The caller goes on when it has
        ended, so that clients that leave cannot have more work going on than there are threads.

        Raises:
            Rejection: 413 if the account is empty.
        """
        work = _Work(function)
        future = self._lanes[account.lane].submit(work, account.size)
        running = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait([running], timeout=CHECKED))[0]:
                if work.seconds() > account.left:
                    raise too_much_work()
            return running.result()
        finally:
            while not (running.done() or future.cancel()):
                work.interrupt()
                await asyncio.wait([running], timeout=AGAIN)
            if running.done() and not running.cancelled():
                running.exception()  # is seen, or of no interest
            account.left -= work.seconds()

    def close(self) -> None:
        """Wait for the work that has started."""
        for lane in self._lanes.values():
            lane.pool.shutdown(cancel_futures=True)


class _Lane:
    """A thread, and what waits for it.

    Args:
        name: Of the thread.
    """

    def __init__(self, name: str) -> None:
        self.pool = ThreadPoolExecutor(1, name, initializer=lower_priority)
        self._waiting: PriorityQueue[tuple[int, int, Callable[[], Any], Future[Any]]] = (
            PriorityQueue()
        )
        self._numbers = count()

    def submit(self, work: Callable[[], R], size: int) -> Future[R]:
        """Do work when nothing smaller waits, nor anything of the same size that came before."""
        future: Future[R] = Future()
        self._waiting.put((size, next(self._numbers), work, future))
        self.pool.submit(self._do_next)
        return future

    def _do_next(self) -> None:
        _, _, work, future = self._waiting.get_nowait()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)


class _Work(Generic[R]):
    """A call in another thread, which can be interrupted.

    Args:
        function: What is called.
    """

    def __init__(self, function: Callable[[], R]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._thread: int | None = None  # while the function runs
        self._started = self._spent = 0.0

    def __call__(self) -> R:
        """Call the function in this thread."""
        thread = threading.get_ident()
        self._started = time.thread_time()
        self._thread = thread
        try:
            return self._function()
        finally:
            with self._lock:
                self._thread = None
                self._spent = time.thread_time() - self._started
                _raise_in(thread, None)  # an interruption that has come too late

    def seconds(self) -> float:
        """Return the time of the processor that the function has taken."""
        with self._lock:
            if self._thread is None or not hasattr(time, "pthread_getcpuclockid"):
                return self._spent
            now = time.clock_gettime(time.pthread_getcpuclockid(self._thread))
            return now - self._started

    def interrupt(self) -> None:
        """Raise `Interrupted` in the function, as soon as it runs code of Python, unless it imports a module just now."""
        with self._lock:
            if self._thread is not None and not _is_importing(self._thread):
                _raise_in(self._thread, Interrupted)


def _is_importing(thread: int) -> bool:
    """Return whether a thread holds locks of imports, which an exception at any place might leave locked."""
    frame = sys._current_frames().get(thread)
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Let a thread raise an exception at its next step; None: not that which it was about to raise."""
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)


def lower_priority() -> None:
    """Give the event loop priority over the calling thread where they share a core."""
    if sys.platform == "linux":  # elsewhere threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
