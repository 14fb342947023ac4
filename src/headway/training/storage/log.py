"""Logs of JSON lines, which a resumed run cuts back to the lengths they had at the checkpoint."""

import hashlib
import json
import math
import os
from pathlib import Path
from typing import BinaryIO

from headway.errors import HeadwayError
from headway.files import hash_file, sync
from headway.training.storage.checkpoint import explain_write_errors


class Log:
    """A file of JSON objects, one on each line; only its end ever changes.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def write(self, **values: object) -> None:
        """Append an object; numbers that JSON cannot express (NaN, infinity) become null."""
        finite = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in values.items()
        }
        line = json.dumps(finite).encode() + b"\n"
        with explain_write_errors(self.path, len(line)):
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
            if not os.fstat(self._file.fileno()).st_nlink:  # a deleted file can still be written
                raise FileNotFoundError
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
        sync(self.path)
        return self.path.stat().st_size

    def sha256(self) -> str:
        """Return the sha256 of the file, or of nothing if it does not exist."""
        return hash_file(self.path) if self.path.exists() else hashlib.sha256().hexdigest()

    def cut(self, size: int, sha256: str = "") -> None:
        """Delete everything after the first ``size`` bytes; a file that is missing stays so.

        Args:
            size: Length in bytes when the checkpoint was written.
            sha256: Of these bytes; empty: they are not compared.

        Raises:
            HeadwayError: If the file is shorter than ``size``, or its first bytes are others.
        """
        self.close()
        if not self.path.exists():
            return
        length = self.path.stat().st_size
        way_out = "the file was changed; restore it, or delete it to resume without its lines"
        if length < size:
            raise HeadwayError(
                f"{self.path}: has {length} bytes, but had {size} when the checkpoint was written:"
                f" {way_out}"
            )
        if sha256:
            with self.path.open("rb") as file:
                if hashlib.sha256(file.read(size)).hexdigest() != sha256:
                    raise HeadwayError(
                        f"{self.path}: has other lines than the run wrote: {way_out}"
                    )
        if length > size:
            with self.path.open("r+b") as file:
                file.truncate(size)

    def close(self) -> None:
        """Close the file; the next `write` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None
