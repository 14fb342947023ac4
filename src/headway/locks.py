"""Locks on files and directories, which the kernel releases when the process ends, even by SIGKILL."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

from headway.errors import HeadwayError

LOCK = ".lock"
PATIENCE = 1.0  # seconds: processes that were forked from one that was killed hold its lock until they have ended, too


def lock_file(path: Path, *, wait: bool = False) -> BinaryIO:
    """Open a file to read and write it, and lock it for this process until it is closed.

    Args:
        path: The file; a symbolic link is not followed.
        wait: Whether to wait for another process that holds the lock.

    Raises:
        BlockingIOError: If another process holds the lock, and this one does not wait for it.
        OSError: If the file cannot be opened.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CREAT, 0o666), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(file, path):  # else the process that held the lock has removed the file
                return file
        except BlockingIOError:
            if time.monotonic() > deadline:
                file.close()
                raise
        file.close()
        time.sleep(0.02)


def is_at(file: BinaryIO, path: Path) -> bool:
    """Return whether an open file still has this path: another process may have renamed or removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


class DirectoryLock:
    """The lock of a directory in which one process works: the file ``.lock``, which holds the number of the process.

    A ``with`` block acquires and releases it.

    Args:
        directory: The directory, which exists when the lock is acquired.
        name: What is made in it, for messages; None: the directory.
    """

    def __init__(self, directory: Path, name: Path | None = None) -> None:
        self.directory = directory
        self._name = name or directory
        self.path = directory / LOCK
        self._file: BinaryIO | None = None
        self._is_own = True

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def acquire(self, *, is_held: bool = False) -> None:
        """Become the one process that works here, until `release`.

        Args:
            is_held: Whether the process that has started this one, and waits for it, holds the lock for both.

        Raises:
            HeadwayError: If another process works here, or the file cannot be written.
        """
        try:
            self._is_own = not is_held
            if is_held:
                self._file = self.path.open("r+b")
                return
            self._file = lock_file(self.path)
            self._file.truncate(0)
            self._file.write(str(os.getpid()).encode())
            self._file.flush()
        except BlockingIOError:
            holder = "?"
            with suppress(OSError):  # it may be released at this moment
                holder = self.path.read_text(errors="replace") or holder
            raise HeadwayError(
                f"{self._name}: process {holder} is at work here already; wait for it, stop it,"
                " or give another directory"
            ) from None
        except OSError as error:
            self.release()
            raise HeadwayError(f"{self.path}: cannot be written ({error.strerror})") from None

    @property
    def is_lost(self) -> bool:
        """Whether the directory was removed, or replaced by another, since `acquire`."""
        if self._file is None:
            return False
        if self.path.exists():
            return not is_at(self._file, self.path)
        return not self.directory.is_dir()  # only the lock may be missing

    def release(self) -> None:
        """Let another process work here; delete the directory if nothing else was written to it."""
        file, self._file = self._file, None
        if file is None:
            return
        with file, suppress(OSError):
            if self._is_own and is_at(file, self.path):
                self.path.unlink()  # a process that waits for it notices, and makes another
        if self._is_own:  # NFS keeps a file that is open under another name, so it is closed before
            with suppress(OSError):  # it holds other files, or another process works here now
                self.directory.rmdir()
