"""Trials side by side, each in a worker process with one core; no worker outlives its parent.

``python -m headway.ext.paper.running.workers MODULE:FUNCTION DIR`` is one worker.
"""

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from headway.errors import HeadwayError
from headway.training import configure_process

EXPLAINED = 3  # the exit status of a worker whose last line is the message of a `HeadwayError`


def run_together(
    function: Callable[[Path], None], directories: Sequence[Path], processes: int
) -> Iterator[Path]:
    """Call a function with each directory, in several worker processes.

    Args:
        function: At the top level of a module; the directory's files say what it is to do.
        directories: In the order in which they are started.
        processes: How many workers run at once.

    Yields:
        Each directory when its work is done.

    Raises:
        HeadwayError: With the last line that a worker wrote before it failed; the others are stopped.
    """
    # Idle threads of workers with one core each would only wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    name = f"{function.__module__}:{function.__qualname__}"
    workers: list[subprocess.Popen[bytes]] = []
    is_over = threading.Event()

    def run(directory: Path) -> Path:
        command = [sys.executable, "-m", __name__, name, str(directory)]
        path = directory / "log.txt"
        with path.open("ab") as log:  # what another process writes there stays
            begin = log.tell()
            # The worker stops when its standard input ends, so when this process does.
            worker = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment,
                process_group=0,  # Ctrl-C interrupts this process alone, which then terminates its workers
            )  # fmt: skip
        workers.append(worker)
        if is_over.is_set():  # a thread of the pool took it before the pool was shut down
            worker.terminate()
        with worker:
            code = worker.wait()
        if code:
            lines = path.read_bytes()[begin:].decode(errors="replace").splitlines()
            message = lines[-1] if lines else ""
            if code == EXPLAINED:
                raise HeadwayError(message)
            raise HeadwayError(f"{directory}: the worker ended with {code}: {message}")
        return directory

    pool = ThreadPoolExecutor(processes)
    try:
        for future in as_completed([pool.submit(run, directory) for directory in directories]):
            yield future.result()
    except BaseException:
        is_over.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        raise
    finally:
        pool.shutdown()


def end_with_standard_input() -> None:
    """End this process when its standard input does: a pipe that only the parent can write to."""

    def wait() -> None:
        os.read(0, 1)  # without a buffer, whose lock this thread would hold when the work is done
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    end_with_standard_input()
    configure_process()
    module, _, function_name = sys.argv[1].partition(":")
    try:
        getattr(importlib.import_module(module), function_name)(Path(sys.argv[2]))
    except HeadwayError as error:
        print(error, file=sys.stderr)
        sys.exit(EXPLAINED)
