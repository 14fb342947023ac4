"""A text file that is written in steps, and that the next process continues after a kill.

While the file is unfinished, two files stand beside it: ``NAME.partial`` holds the text so far, and
``NAME.partial.json`` holds what the text depends on and how much of it is certain.
"""

import fcntl
import gzip
import json
import lzma
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import zstandard

from headway.errors import HeadwayError
from headway.files import add_path_to_errors, replace_text, sync

# Each write appends a complete compressed stream. Programs that read .gz, .xz and .zst files read all
# streams of a file, one after the other, as one text.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


class ResumableOutput:
    """A context in which a file is written step by step; `finish` gives the file its name.

    Args:
        path: The finished file; .gz, .xz and .zst are compressed. An older file is replaced by `finish`.
        identity: What the content depends on, by name. An unfinished file with another identity is
            dropped.

    Attributes:
        lines: Input lines whose output is already written.
        dropped: Why an unfinished file was dropped; empty: there was none, or it is continued.

    Raises:
        HeadwayError: On entry, if another process writes this file.
    """

    def __init__(self, path: Path, identity: Mapping[str, str]) -> None:
        self.path, self.identity = path, dict(identity)
        self.lines, self.dropped = 0, ""
        self._compress = COMPRESSORS.get(path.suffix, bytes)
        self._text = path.with_name(f"{path.name}.partial")
        self._state = path.with_name(f"{path.name}.partial.json")

    def __enter__(self) -> "ResumableOutput":
        with add_path_to_errors(self._text):
            self._file = self._text.open("ab")
        try:
            # The kernel releases the lock when the process ends, even by kill -9.
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise HeadwayError(f"{self.path}: another process is writing this file") from None
        self._file.truncate(self._resume())
        self._file.seek(0, os.SEEK_END)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, text: str, lines: int) -> None:
        """Write the output of the next input lines, which is on disk when this returns."""
        self._write(text)
        self.lines += lines
        state = {"identity": self.identity, "lines": self.lines, "bytes": self._file.tell()}
        replace_text(self._state, f"{json.dumps(state, indent=2)}\n")

    def finish(self) -> None:
        """Give the file its name, and remove what only a resume needs."""
        if not self._file.tell():
            self._write("")  # a compressed file has a header even if it holds no text
        self._text.replace(self.path)
        self._state.unlink(missing_ok=True)
        sync(self.path.parent)

    def _write(self, text: str) -> None:
        with add_path_to_errors(self._text):
            self._file.write(self._compress(text.encode()))
            self._file.flush()
            os.fsync(self._file.fileno())

    def _resume(self) -> int:
        """Set `lines` and `dropped`; return how many bytes of the unfinished file are certain."""
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
            identity, lines, size = state["identity"], int(state["lines"]), int(state["bytes"])
            names = sorted({*identity, *self.identity})
            changed = [name for name in names if identity.get(name) != self.identity.get(name)]
        except FileNotFoundError:
            return 0
        except (ValueError, TypeError, KeyError, AttributeError):
            self.dropped = f"{self._state} is damaged"
            return 0
        if changed:
            self.dropped = f"changed since: {', '.join(changed)}"
            return 0
        if not 0 <= size <= self._text.stat().st_size or lines < 0:
            self.dropped = f"{self._text} is shorter than {self._state} says"
            return 0
        self.lines = lines
        return size
