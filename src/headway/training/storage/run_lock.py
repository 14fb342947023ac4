"""A lock on a directory, such as a run directory. Only the process that holds the lock writes there."""

import fcntl
import os
from pathlib import Path
from typing import IO, Self

from headway.errors import HeadwayError
from headway.training.storage.checkpoint import explain_write_errors

LOCK = ".lock"


class RunLock:
    """The file ``.lock`` of a directory, which holds the number of the process that works there.

    The kernel releases the lock when the process ends, even by SIGKILL. A ``with`` block acquires and releases it.

    Args:
        directory: The directory, which exists when the lock is acquired.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / LOCK
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Become the one process that works here, until `release`.

        Raises:
            HeadwayError: If another process works here, or the file cannot be written.
        """
        with explain_write_errors(self.path, 0):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW  # never the target of a link
            file = os.fdopen(os.open(self.path, flags, 0o666), "r+", errors="replace")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.truncate(0)
                file.write(str(os.getpid()))
                file.flush()
            except BlockingIOError:
                holder = file.read() or "?"
                file.close()
                raise HeadwayError(
                    f"{self.directory}: process {holder} is at work here already; wait for it, stop it,"
                    " or give another directory"
                ) from None
        self._file = file

    def check(self) -> None:
        """Check that the directory was not removed, or replaced by another, since `acquire`.

        Raises:
            HeadwayError: If it was.
        """
        if self._file is None:
            return
        is_same = self.directory.is_dir()  # only the lock may be missing
        if self.path.exists():
            is_same = os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        if not is_same:
            raise HeadwayError(
                f"{self.directory}: was removed while the run used it: the training ends, and its steps"
                " since the last checkpoint are lost"
            )

    def release(self) -> None:
        """Let another process work here; delete the directory if nothing else was written to it."""
        if self._file is None:
            return
        names = (
            [entry.name for entry in self.directory.iterdir()] if self.directory.is_dir() else []
        )
        if names == [LOCK]:
            self.path.unlink()
            self.directory.rmdir()
        self._file.close()
        self._file = None
