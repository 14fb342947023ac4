"""Pieces of work side by side, a process and a core each; none outlives the process that began it.

``python -m headway.paper.running.workers MODULE:FUNCTION DIR`` does one of them.
"""

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from headway.errors import HeadwayError
from headway.training.machine import configure_process

Piece = Callable[[Path], object]


def run_together(
    piece: Piece, places: Sequence[Path], processes: int, done: Callable[[Path], None]
) -> None:
    """Do a piece of work in each directory, as many at once as there are processes.

    Args:
        piece: A function at the top of a module, of a directory that says what is to be done.
        places: The directories, in the order in which they are begun.
        processes: With one, or a single directory, no other process is started.
        done: Called with each directory that is done.

    Raises:
        HeadwayError: With the last line that a process said before it failed; the others are ended.
    """
    if processes == 1 or len(places) < 2:
        for place in places:
            piece(place)
            done(place)
        return
    # Idle threads of one core each would only wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    name = f"{piece.__module__}:{piece.__qualname__}"
    children: list[subprocess.Popen[bytes]] = []

    def run(place: Path) -> None:
        command = [sys.executable, "-m", "headway.paper.running.workers", name, str(place)]
        with (place / "log.txt").open("wb") as log:
            # It ends when its standard input does.
            child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment
            )
        children.append(child)
        with child:
            code = child.wait()
        if code:
            lines = (place / "log.txt").read_text(errors="replace").splitlines()
            raise HeadwayError(f"{place}: ended with {code}: {lines[-1] if lines else ''}")
        done(place)

    pool = ThreadPoolExecutor(processes)
    try:
        list(pool.map(run, places))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.terminate()
        raise
    finally:
        pool.shutdown()


def _end_with_parent() -> None:
    """End when standard input does, as it does when the process that started this one is gone."""
    os.read(0, 1)  # without a buffer, whose lock this thread would hold when the work is done
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    configure_process()
    module, _, function = sys.argv[1].partition(":")
    getattr(importlib.import_module(module), function)(Path(sys.argv[2]))
