"""A log of JSON lines, which a resumed run cuts back to the length it had at the checkpoint."""

import json
import math
from pathlib import Path
from typing import BinaryIO

from headway.errors import HeadwayError
from headway.files import sync
from headway.training.checkpoint import explain_write_errors


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
            self._file.write(line)

    def size(self) -> int:
        """Wait until the file is on disk, and return its length in bytes."""
        if not self.path.exists():
            return 0
        sync(self.path)
        return self.path.stat().st_size

    def cut(self, size: int) -> None:
        """Delete everything after the first ``size`` bytes.

        Raises:
            HeadwayError: If the file is shorter than ``size``.
        """
        self.close()
        length = self.path.stat().st_size if self.path.exists() else 0
        if length < size:
            raise HeadwayError(
                f"{self.path}: has {length} bytes, but had {size} when the checkpoint was written:"
                " the file was changed; restore it to resume the run"
            )
        if length > size:
            with self.path.open("r+b") as file:
                file.truncate(size)

    def close(self) -> None:
        """Close the file; the next `write` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None
