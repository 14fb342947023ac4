"""A process that ends when the process that started it ends, even by kill -9."""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1  # of prctl(2)


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends: on Linux the kernel kills it, elsewhere a thread waits, in what `multiprocessing` started.

    Args:
        parent: The process number of the parent, which may have ended already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    elif (process := multiprocessing.parent_process()) is not None:

        def wait() -> None:
            process.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()


def end_with_standard_input() -> None:
    """End this process when its standard input does: a pipe that only the parent can write to."""

    def wait() -> None:
        os.read(0, 1)  # without a buffer, whose lock this thread would hold when the work is done
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
