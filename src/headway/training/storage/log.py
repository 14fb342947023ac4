"""The logs of a training run: files of JSON lines that a resume cuts back."""

import errno
import hashlib
import json
import math
import os
from pathlib import Path
from typing import BinaryIO

from headway.errors import HeadwayError
from headway.files import add_path_to_errors, check_is_file, hash_file, sync
from headway.training import parallel

RESTORE_LOG = "restore it, or delete it to resume without its lines"


class Log:
    """A file of JSON objects, one on each line, which a resumed run cuts back to its length at the checkpoint.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def write(self, **values: object) -> None:
        """Append an object, on rank 0; numbers that JSON cannot express (NaN, infinity) become null."""
        if parallel.rank():
            return
        finite = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in values.items()
        }
        line = json.dumps(finite).encode() + b"\n"
        with add_path_to_errors(self.path):
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
            if not os.fstat(self._file.fileno()).st_nlink:  # a deleted file can still be written
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            self._append(line)

    def _append(self, line: bytes) -> None:
        """Write a whole line; if the disk is full, remove the part that was written, and raise the error."""
        assert self._file is not None
        end = os.fstat(self._file.fileno()).st_size
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError:
            os.ftruncate(self._file.fileno(), end)
            raise

    def size(self) -> int:
        """Wait until the file is on disk, and return its length in bytes."""
        if not self.path.exists():
            return 0
        check_is_file(self.path, RESTORE_LOG)
        sync(self.path)
        return self.path.stat().st_size

    def sha256(self) -> str:
        """Return the sha256 of the file, or of nothing if it does not exist."""
        return hash_file(self.path) if self.path.exists() else hashlib.sha256().hexdigest()

    def cut(self, size: int, sha256: str = "") -> None:
        """Delete everything after the first ``size`` bytes.

        Args:
            size: Length in bytes when the checkpoint was written.
            sha256: Of these bytes; empty: they are not compared.

        Raises:
            HeadwayError: If the first bytes are others.
        """
        self.close()
        check_is_file(self.path, RESTORE_LOG)
        with add_path_to_errors(self.path), self.path.open("rb") as file:
            found = hashlib.sha256(file.read(size)).hexdigest()
        if sha256 and found != sha256:
            raise HeadwayError(f"{self.path}: has other lines than the run wrote: {RESTORE_LOG}")
        if self.path.stat().st_size > size:
            os.truncate(self.path, size)

    def close(self) -> None:
        """Close the file; the next `write` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None
