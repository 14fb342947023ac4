"""Worker processes: results in order, whatever is killed."""

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.translation.line_files.forked_workers import AHEAD, IS_SUPPORTED, ForkedWorkers
from support.processes import is_running

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="workers are forked on Linux only")


def square(number: int) -> int:
    time.sleep(0.003 * (number % 3))
    return number * number


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(count: int) -> None:
    with ForkedWorkers(square, count) as workers:
        assert list(workers.map(iter(range(20)))) == [(n, n * n) for n in range(20)]


@pytest.mark.slow
def test_few_items_are_read_ahead() -> None:
    read = []

    def items() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    with ForkedWorkers(square, 2) as workers:
        for number, _ in workers.map(items()):
            assert read[-1] <= number + 2 * AHEAD


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    def end_once(number: int) -> int:
        marker = tmp_path / str(number)
        if number % 2 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with ForkedWorkers(end_once, 2) as workers:
        assert [number for number, _ in workers.map(iter(range(9)))] == list(range(9))
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.slow
def test_an_idle_worker_that_is_killed_is_replaced() -> None:
    with ForkedWorkers(square, 2) as workers:
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        assert list(workers.map(iter([3, 4]))) == [(3, 9), (4, 16)]


@pytest.mark.slow
def test_an_item_that_ends_two_workers_is_an_error() -> None:
    def end(number: int) -> int:
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with ForkedWorkers(end, 2) as workers:
        results = workers.map(iter(range(9)))
        assert [next(results)[0] for _ in range(2)] == [0, 1]
        with pytest.raises(HeadwayError, match=r"ended at the same lines \(SIGKILL\)"):
            next(results)


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (HeadwayError("a mistake"), HeadwayError, "^a mistake$"),
        (KeyError("a bug"), RuntimeError, "(?s)in a worker process.*in fail.*KeyError: 'a bug'"),
    ],
)
def test_an_exception_reaches_the_caller(
    raised: Exception, expected: type[Exception], message: str
) -> None:
    def fail(number: int) -> int:
        raise raised

    with ForkedWorkers(fail, 2) as workers, pytest.raises(expected, match=message):
        list(workers.map(iter([1])))


def test_signals_of_a_terminal_do_not_end_workers() -> None:
    def interrupt(number: int) -> int:
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), name)
        return os.getpid()

    with ForkedWorkers(interrupt, 1) as workers:
        processes = {process for _, process in workers.map(iter(range(3)))}
    assert len(processes) == 1


def start_workers(pipe: Connection) -> None:
    def wait(number: int) -> int:
        pipe.send(os.getpid())
        time.sleep(60)
        return number

    with ForkedWorkers(wait, 2) as workers:
        list(workers.map(iter(range(2))))


def test_workers_end_with_a_parent_that_is_killed() -> None:
    receiving, sending = multiprocessing.Pipe(duplex=False)
    parent = multiprocessing.get_context("fork").Process(target=start_workers, args=(sending,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        parent.start()
    workers = [receiving.recv(), receiving.recv()]
    assert all(is_running(worker) for worker in workers)
    parent.kill()
    parent.join()
    deadline = time.monotonic() + 5
    while any(is_running(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker runs on"
        time.sleep(0.01)
