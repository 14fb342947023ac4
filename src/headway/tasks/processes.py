"""Worker processes of this machine, which share the tasks of a job and end with this process."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType

from headway.errors import HeadwayError

# Errors of a disk, which a process that they end has as its exit code.
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.ESTALE}


class LostWorkersError(HeadwayError):
    """Worker processes were killed, or failed for no fault of the user; what they finished is kept."""


class WorkerProcesses:
    """Worker processes; as a context manager they run inside the block, and are killed at its end.

    They also end when this process ends in any other way, because their standard input does.

    Args:
        count: The number of processes.
        module: A module with a function ``serve(*arguments)``, which calls `end_with_standard_input`, and
            exits with the number of an `OSError`.
        arguments: Its arguments.
    """

    def __init__(self, count: int, module: str, arguments: Sequence[str]) -> None:
        self._count = count
        self._module = module
        self._arguments = list(arguments)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._progress = -1  # finished tasks when a process was started last
        self._ended = ""

    def __enter__(self) -> "WorkerProcesses":
        self._reading, self._writing = os.pipe()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        os.close(self._writing)
        os.close(self._reading)

    def keep_running(self, progress: int) -> None:
        """Start the processes, and replace those that were killed.

        Args:
            progress: The number of finished tasks. If it has not grown since a process was started, a
                process that is killed is not replaced.

        Raises:
            OSError: If an error of the disk ended a process.
            LostWorkersError: If another error ended a process, or none is left.
        """
        for process in self._processes:
            code = process.poll()  # this also lets the other processes see that it is dead
            if code is not None and code < 0:
                self._ended = signal.Signals(-code).name
            elif code in DISK_ERRORS:
                raise OSError(code, os.strerror(code))
            elif code:
                self._ended = f"exit code {code}"
                raise self._error()
        self._processes = [process for process in self._processes if process.returncode is None]
        if len(self._processes) < self._count and progress > self._progress:
            self._progress = progress
            while len(self._processes) < self._count:
                self._processes.append(self._start())
        if not self._processes and self._ended:
            raise self._error()

    def _start(self) -> "subprocess.Popen[bytes]":
        call = ", ".join(map(repr, self._arguments))
        code = f"import sys; sys.path[:] = {sys.path!r}; from {self._module} import serve; serve({call})"
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=self._reading,
            process_group=0,  # Ctrl-C interrupts this process alone
        )

    def _error(self) -> LostWorkersError:
        return LostWorkersError(
            f"a worker process ended ({self._ended}); fewer --workers need less memory, and the same"
            " command goes on"
        )
