"""Work on large text: stages of chunks, done by one process or several, and gone on with after a kill.

A stage applies a function to each of its chunks, and begins when the stage before it is finished. The result of
a chunk is a directory that appears whole, below the work directory (`headway.text.work_directory`); a result that is
there is not made again.
"""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from headway import __version__
from headway.devices import end_with_parent
from headway.errors import HeadwayError, LostWorkersError, explain_missing
from headway.extension import name_extensions
from headway.files import write_atomically

CAN_FORK = sys.platform == "linux"  # elsewhere the libraries of the system may not survive a fork
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FOLDER = 1000  # results in one directory
# A chunk that ends its process is found by the second loss, unless one of them was the fault of its neighbors.
MOST_LOSSES = 3

Numbered = tuple[int, Any]  # a chunk with its number
# An executor, and a function that counts its workers, which may come and go.
Started = tuple[Executor, Callable[[], int]]
Work = Callable[[Any, Path], None]  # writes the result of a chunk to an empty directory
LARGE = "1GB"  # of a call to Dask: a range of text is larger than the 10 MB of which it warns
PATIENCE = 60.0  # seconds in which the first worker of a cluster must come
_function: Callable[[Numbered], None]  # of this process, if it is a worker


class Stage(NamedTuple):
    """A function that is applied to each of some chunks.

    Attributes:
        name: The name of the stage, which is that of the directory of its results.
        chunks: Each chunk; it is read once, while the first of them are worked on.
        work: Writes the result of a chunk to an empty directory. The same chunk gives the same bytes.
    """

    name: str
    chunks: Iterable[Any]
    work: Work


def find_result(folder: Path, number: int = 0) -> Path:
    """Return the directory of a chunk's result below the directory of its stage."""
    return folder / f"{number // FOLDER:05}" / f"{number % FOLDER:03}"


def count_results(folder: Path) -> int:
    """Return how many chunks of a stage are finished, below the directory of the stage."""
    return sum(1 for _ in folder.glob("[0-9]*/[0-9]*"))


class Workers(NamedTuple):
    """The processes, threads or machines that do the chunks of a stage. The default is this process alone.

    Attributes:
        processes: Processes of this machine; 1: this one. On Linux they are forked, share the memory of what this
            process has loaded, and may use torch if this process has used it with one thread only. Elsewhere the
            function of a stage must be one that can be pickled.
        threads: Threads of this process, if it works alone.
        cluster: The address of a scheduler of Dask, whose workers see the same files under the same names; empty: no
            cluster. The function of a stage must be one that can be pickled.
    """

    processes: int = 1
    threads: int = 1
    cluster: str = ""


ALONE = Workers()


def run_stage(stage: Stage, directory: Path, workers: Workers = ALONE) -> Iterator[Numbered]:
    """Do what a stage has left to do, and yield each chunk with its number when its result is there.

    Args:
        stage: The stage.
        directory: Where the results of all stages are, which exists.
        workers: Who does it.

    Raises:
        LostWorkersError: If processes have ended with the same chunk again and again, or the cluster is lost.
        Exception: An exception of the function.
    """
    # Workers of a cluster have other current directories.
    folder = (directory / stage.name).absolute()
    work = partial(_write_result, stage.work, folder)
    left = (
        (number, chunk)
        for number, chunk in enumerate(stage.chunks)
        if not find_result(folder, number).is_dir()
    )
    if workers.cluster:
        remotely = partial(_write_remotely, _describe_code(), work)
        for chunk in _map(left, remotely, partial(_connect_cluster, workers.cluster)):
            result = find_result(folder, chunk[0])
            if not (result.parent.is_dir() and result in result.parent.iterdir()):
                raise LostWorkersError(
                    f"--cluster {workers.cluster}: its workers do not share {folder}"
                )
            yield chunk
    elif workers.processes > 1:
        yield from _map(left, _call, partial(_start_processes, work, workers.processes))
    elif workers.threads > 1:
        yield from _map(left, work, partial(_start_threads, workers.threads))
    else:
        for chunk in left:
            work(chunk)
            yield chunk


def _describe_code() -> str:
    """Name the version of Headway, and the extensions that change results."""
    return f"Headway {__version__} {name_extensions()}".strip()


def _write_remotely(code: str, work: Callable[[Numbered], None], chunk: Numbered) -> None:
    """Do the work of a chunk on another machine, which must have the same code."""
    if (own := _describe_code()) != code:
        raise LostWorkersError(
            f"a worker on {socket.gethostname()} has {own}, and this command {code}"
        )
    work(chunk)


def _write_result(work: Work, folder: Path, chunk: Numbered) -> None:
    path = find_result(folder, chunk[0])
    if path.is_dir():  # by a process that has ended before it could say so
        return
    folder.mkdir(exist_ok=True)  # not its parent, which is gone if this worker is late
    path.parent.mkdir(exist_ok=True)
    try:
        with write_atomically(path) as unfinished:
            unfinished.mkdir()
            work(chunk[1], unfinished)
    except OSError:
        if not path.is_dir():  # else another machine of a cluster was faster
            raise


def _map(
    chunks: Iterator[Numbered],
    function: Callable[[Numbered], None],
    start: Callable[[], AbstractContextManager[Started]],
) -> Iterator[Numbered]:
    """Apply a function to chunks by an executor, and yield each chunk when it is finished.

    An executor that has lost a process is replaced, and the chunks that it had are done again.

    Args:
        chunks: Each chunk with its number.
        function: The function.
        start: Starts an executor, and ends it. One more chunk than it has workers waits for them, and no more are read.
    """
    # By chunk: how often processes were lost that may have worked on it.
    losses: Counter[int] = Counter()
    while True:
        pending: dict[int, Numbered] = {}
        futures: dict[Future[None], int] = {}
        with start() as (executor, count_workers):
            try:
                for chunk in chunks:
                    pending[chunk[0]] = chunk
                    futures[executor.submit(function, chunk)] = chunk[0]
                    if len(pending) > count_workers():
                        yield from _take_finished(pending, futures)
                while pending:
                    yield from _take_finished(pending, futures)
                return
            except BrokenExecutor:
                losses.update(pending.keys())
                if max(losses.values(), default=0) == MOST_LOSSES:
                    raise LostWorkersError(
                        "worker processes ended again and again at the same text: if memory is short, use fewer"
                        " --workers; the same command goes on"
                    ) from None
                chunks = chain(list(pending.values()), chunks)


def _take_finished(
    pending: dict[int, Numbered], futures: dict[Future[None], int]
) -> Iterator[Numbered]:
    """Wait for a chunk, and yield those that are finished."""
    for future in wait(futures, return_when=FIRST_COMPLETED).done:
        future.result()
        yield pending.pop(futures.pop(future))


@contextmanager
def _start_threads(count: int) -> Iterator[Started]:
    executor = ThreadPoolExecutor(count)
    try:
        yield executor, lambda: count
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _start_processes(function: Callable[[Numbered], None], count: int) -> Iterator[Started]:
    """Start an executor; its processes end when this process does, and do not react to Ctrl-C themselves."""
    context = multiprocessing.get_context("fork" if CAN_FORK else "spawn")
    executor = ProcessPoolExecutor(count, context, _begin_worker, (function, os.getpid()))
    others = set(multiprocessing.active_children())
    workers: set[BaseProcess] = set()
    # A worker that is being started must not act as this process does at a signal.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of the threads of this process.
                warnings.simplefilter("ignore", DeprecationWarning)
                # The first call starts all workers by a fork, and on another system one after the other.
                executor.submit(os.getpid)
        finally:
            workers = set(multiprocessing.active_children()) - others
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        yield executor, lambda: count
    finally:
        for worker in workers:  # a chunk can take many minutes
            worker.kill()
        executor.shutdown(cancel_futures=True)


def _begin_worker(function: Callable[[Numbered], None], parent: int) -> None:
    """Prepare a worker process.

    Args:
        function: What `_call` applies. A fork has it already, so that it need not be one that can be pickled.
        parent: The process number of the parent.
    """
    global _function
    _function = function
    end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends these two to the workers, too
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


def _call(chunk: Numbered) -> None:
    try:
        _function(chunk)
    except (HeadwayError, OSError, MemoryError, RuntimeError):
        raise
    except Exception:  # one that cannot travel would end the worker
        raise RuntimeError(f"in a worker process:\n{traceback.format_exc()}") from None


@contextmanager
def _connect_cluster(address: str) -> Iterator[Started]:
    """Connect to a cluster. Dask gives the work of a worker that is lost to another one.

    Args:
        address: The address of the scheduler, such as ``tcp://node1:8786``, or the path of its file (``*.json``).

    Yields:
        An executor, and a function that counts the threads of all workers, which may come and go.

    Raises:
        LostWorkersError: If Dask is not installed, there is no such cluster, or it is lost.
    """
    try:
        import dask
        from distributed import Client, KilledWorker
    except ImportError:
        raise LostWorkersError(f"--cluster {explain_missing('distributed')}") from None
    if address.endswith(".json") and not Path(address).is_file():
        raise LostWorkersError(
            f"--cluster {address}: no such file: start dask scheduler --scheduler-file {address}"
        )
    place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = Client(**place, set_as_default=False)
        client.wait_for_workers(1, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise LostWorkersError(f"--cluster {address}: {error}") from None
    try:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE}):
            yield client.get_executor(pure=False), lambda: sum(client.nthreads().values())
    except (CancelledError, KilledWorker) as error:
        is_lost = isinstance(error, CancelledError)
        what = "the cluster is lost" if is_lost else "several workers ended at the same text"
        raise LostWorkersError(f"{what}; the same command goes on") from None
    finally:
        # What it would say of a lost scheduler is a traceback.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        client.close()
