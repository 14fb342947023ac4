"""Worker processes that apply a function to items; the results come in the order of the items.

The workers are forked, so they start within milliseconds and share the memory of what this process has
loaded, such as a model. A forked process cannot use the threads of OpenMP if its parent has used them:
the parent must run torch with one thread until the workers have started. CUDA does not survive a fork.
"""

import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe, wait
from types import TracebackType
from typing import Generic, TypeVar

from headway.errors import HeadwayError
from headway.tasks.parent import end_with_parent

Item = TypeVar("Item")
Result = TypeVar("Result")

IS_SUPPORTED = (
    sys.platform == "linux"
)  # elsewhere the libraries of the system may not survive a fork
AHEAD = 4  # items for each worker that may be in progress or wait for an earlier result
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # a terminal sends them to workers, too


class ForkedWorkers(Generic[Item, Result]):
    """Worker processes; as a context manager they run inside the block, and are killed at its end.

    They are also killed when this process ends in any other way.

    Args:
        function: Computes the result of an item. Items and results can be pickled.
        count: The number of processes.
    """

    def __init__(self, function: Callable[[Item], Result], count: int) -> None:
        self._function, self._count = function, count
        self._workers: list[_Worker[Item, Result]] = []

    def __enter__(self) -> "ForkedWorkers[Item, Result]":
        self._workers = [_Worker(self._function) for _ in range(self._count)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.kill()

    def map(self, items: Iterator[Item]) -> Iterator[tuple[Item, Result]]:
        """Yield each item with its result, in order.

        A worker that ends is replaced, and its item is done again.

        Raises:
            HeadwayError: If two workers have ended with the same item.
            Exception: An exception that the function raised.
        """
        dealt = yielded = 0
        is_last = False
        results: dict[int, tuple[Item, Result]] = {}  # those that wait for an earlier one
        while True:
            for worker in self._workers:
                if worker.number is None and not is_last and dealt < yielded + AHEAD * self._count:
                    item = next(items, None)
                    if item is None:
                        is_last = True
                    else:
                        worker.start(dealt, item)
                        dealt += 1
            busy = {
                worker.connection: worker for worker in self._workers if worker.number is not None
            }
            if not busy:
                return
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                if found := busy[connection].finish():
                    results[found[0]] = found[1:]
            while yielded in results:
                result = results.pop(yielded)
                yielded += 1
                yield result


class _Worker(Generic[Item, Result]):
    """A worker process, and the item that it works on.

    Attributes:
        number: Of the item in progress; None: the worker is idle.
        connection: To the process.
    """

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self._function = function
        self.number: int | None = None
        self._fork()

    def _fork(self) -> None:
        self.connection, remote = Pipe()
        self._process = multiprocessing.get_context("fork").Process(
            target=_serve, args=(self._function, remote, os.getpid()), daemon=True
        )
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # the process inherits this
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of the threads of this process. They hold no lock that a worker needs.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            remote.close()

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.connection.close()

    def start(self, number: int, item: Item) -> None:
        """Let the process work on an item."""
        self.number, self._item, self._is_retry = number, item, False
        self._send()

    def finish(self) -> tuple[int, Item, Result] | None:
        """Return the number, the item and its result; None: the process ended, and another one tries it.

        Raises:
            HeadwayError: If the other process has ended, too.
        """
        assert self.number is not None
        try:
            result = self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            if self._is_retry:
                ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                raise HeadwayError(
                    f"two worker processes ended at the same lines ({ended}): if memory is short, use"
                    " fewer --workers; the same command goes on"
                ) from None
            self._is_retry = True
            self._replace()
            self._send()
            return None
        if isinstance(result, Exception):
            raise result
        number, self.number = self.number, None
        return number, self._item, result

    def _send(self) -> None:
        try:
            self.connection.send(self._item)
        except OSError:  # the process was killed while it was idle
            self._replace()
            self.connection.send(self._item)

    def _replace(self) -> None:
        self.kill()
        self._fork()


def _serve(function: Callable[[Item], Result], connection: Connection, parent: int) -> None:
    """Run a worker process: answer each item with its result or an exception."""
    end_with_parent(parent)
    while True:
        item = connection.recv()
        try:
            answer: Result | Exception = function(item)
        except (HeadwayError, MemoryError) as error:
            answer = error
        except Exception:
            answer = RuntimeError(f"in a worker process:\n{traceback.format_exc()}")
        connection.send(answer)
