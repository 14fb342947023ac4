"""JSON lines that a resumed run can cut back to where its checkpoint was."""

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

from headway.errors import HeadwayError
from headway.files import sync
from headway.training.checkpoint import one_line


class Log:
    """A file of JSON objects, one a line, on which nothing is ever changed but the end.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def write(self, **values: Any) -> None:
        """Append an object and hand it to the system; numbers that JSON has not become null."""
        finite = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in values.items()
        }
        line = json.dumps(finite).encode() + b"\n"
        with one_line(self.path, len(line)):
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
            self._file.write(line)

    def size(self) -> int:
        """Return the file's length in bytes, once they are on disk."""
        if not self.path.exists():
            return 0
        sync(self.path)
        return self.path.stat().st_size

    def cut(self, size: int) -> None:
        """Forget what was written after ``size`` bytes.

        Raises:
            HeadwayError: If the file is shorter than that.
        """
        self.close()
        length = self.path.stat().st_size if self.path.exists() else 0
        if length < size:
            raise HeadwayError(
                f"{self.path}: {length} bytes, but the checkpoint was written after {size}:"
                " the file was changed; put it back to resume"
            )
        if length > size:
            with self.path.open("r+b") as file:
                file.truncate(size)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
