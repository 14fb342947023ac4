"""Processes that tests start, and what other processes do, as Linux shows it."""

import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

from headway.errors import HeadwayError


def fork(function: Callable[..., None], *arguments: object) -> BaseProcess:
    """Call a function in a new process that has everything of this one."""
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of this process
        process.start()
    return process


def fail_or_sleep(seconds: float) -> int:
    """Be a rank: the first one ends with an error, and the others do not notice it."""
    if os.environ["RANK"] == "0":
        raise HeadwayError("the first rank has failed")
    time.sleep(seconds)
    return 0


def is_running(process: int) -> bool:
    """Return whether a process runs; one that nobody has waited for yet is a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(process: int) -> list[int]:
    """Return the processes that a process has started and that run."""
    file = Path(f"/proc/{process}/task/{process}/children")
    with suppress(OSError):
        return [child for child in map(int, file.read_text().split()) if is_running(child)]
    return []


@contextmanager
def start_cluster(folder: Path, workers: int) -> Iterator[str]:
    """Start a scheduler of Dask and its workers, which end with the block; yield the scheduler's file."""
    file = folder / "scheduler.json"
    options = ["--scheduler-file", str(file), "--no-dashboard"]
    nannies = ["--nthreads", "1", "--nworkers", str(workers), "--local-directory", str(folder)]
    log = (folder / "log").open("wb")
    with log, ExitStack() as stack:
        for words in (
            ["scheduler", "--port", "0", "--host", "127.0.0.1", *options],
            ["worker", *options, *nannies],
        ):
            command = [sys.executable, "-c", "from dask.__main__ import main; main()", *words]
            process = stack.enter_context(subprocess.Popen(command, stdout=log, stderr=log))
            stack.callback(process.terminate)
            while not file.exists():
                time.sleep(0.05)
        yield str(file)
