"""A text file that is written in steps, and that the next process continues after a kill.

While the file is unfinished, two files stand beside it: ``NAME.partial`` holds the text so far, and
``NAME.partial.json`` holds what the text depends on and how much of it is certain. A file can also be
written in several parts, by one process each; `headway.translation.line_files.output_parts` joins them.
"""

import gzip
import json
import lzma
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import zstandard

from headway.errors import HeadwayError
from headway.files import add_path_to_errors, replace_text, sync
from headway.locks import lock_file

# Each write appends a complete compressed stream. Programs that read .gz, .xz and .zst files read all
# streams of a file, one after the other, as one text.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


class State(NamedTuple):
    """The content of ``NAME.partial.json``.

    Args:
        identity: What the text depends on, by name.
        lines: Input lines whose output is written.
        bytes: Bytes of the text that are certain.
        is_finished: Whether the text is complete; only a part of a file stays unnamed then.
    """

    identity: dict[str, str]
    lines: int
    bytes: int
    is_finished: bool

    @classmethod
    def read(cls, path: Path) -> "State | None":
        """Return the state in a file; None if there is no such file.

        Raises:
            HeadwayError: If the file is damaged.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                dict(values["identity"]),
                int(values["lines"]),
                int(values["bytes"]),
                bool(values.get("is_finished")),
            )
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            raise HeadwayError(f"{path} is damaged") from None

    def find_changes(self, identity: Mapping[str, str]) -> str:
        """Return the names of what differs from another identity; empty: nothing does."""
        names = sorted({*identity, *self.identity})
        return ", ".join(n for n in names if identity.get(n) != self.identity.get(n))


class ResumableOutput:
    """A context in which a file is written step by step; `finish` gives the file its name.

    Args:
        path: The finished file; .gz, .xz and .zst are compressed. An older file is replaced by `finish`.
        identity: What the content depends on, by name. An unfinished file with another identity is
            dropped.
        part: Added to the name of the unfinished file, which is a part of the finished one.

    Attributes:
        name: The finished file, or the part of it, for messages.
        lines: Input lines whose output is already written.
        dropped: Why an unfinished file was dropped; empty: there was none, or it is continued.

    Raises:
        HeadwayError: On entry, if another process writes this file.
    """

    def __init__(self, path: Path, identity: Mapping[str, str], part: str = "") -> None:
        self.path, self.identity = path, dict(identity)
        self.name = f"{path}{part}"
        self.lines, self.dropped = 0, ""
        self._text, self._state = unfinished_files(path, part)

    def __enter__(self) -> "ResumableOutput":
        try:
            self._file = lock_file(self._text)
        except BlockingIOError:
            raise HeadwayError(f"{self.name}: another process is writing this file") from None
        certain = self._resume()
        if self.dropped:  # the record goes first: it says nothing of the text that is written next
            self._state.unlink(missing_ok=True)
            sync(self.path.parent)
        self._file.truncate(certain)
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
        self._write_state(is_finished=False)

    def finish(self) -> None:
        """Give the file its name, and remove what only a resume needs."""
        if not self._file.tell():
            self._write("")  # a compressed file has a header even if it holds no text
        self._state.unlink(missing_ok=True)
        self._text.replace(self.path)
        sync(self.path.parent)

    def finish_part(self) -> None:
        """Record that this part is complete."""
        self._write_state(is_finished=True)

    def _write(self, text: str) -> None:
        with add_path_to_errors(self._text):
            self._file.write(compress(text, self.path))
            self._file.flush()
            os.fsync(self._file.fileno())

    def _write_state(self, *, is_finished: bool) -> None:
        state = State(self.identity, self.lines, self._file.tell(), is_finished)
        replace_text(self._state, f"{json.dumps(state._asdict(), indent=2)}\n")

    def _resume(self) -> int:
        """Set `lines` and `dropped`; return how many bytes of the unfinished file are certain."""
        try:
            state = State.read(self._state)
        except HeadwayError as error:
            self.dropped = str(error)
            return 0
        if state is None:
            return 0
        if changes := state.find_changes(self.identity):
            self.dropped = f"changed since: {changes}"
            return 0
        if not 0 <= state.bytes <= self._text.stat().st_size or state.lines < 0:
            self.dropped = f"{self._text} is shorter than {self._state} says"
            return 0
        self.lines = state.lines
        return state.bytes


def unfinished_files(path: Path, part: str = "") -> tuple[Path, Path]:
    """Return the paths of the text and of the state of a file, or of a part of it, while it is written."""
    text = path.with_name(f"{path.name}{part}.partial")
    return text, text.with_name(f"{text.name}.json")


def compress(text: str, path: Path) -> bytes:
    """Return the bytes of a text in the format that the name of its file asks for."""
    return COMPRESSORS.get(path.suffix, bytes)(text.encode())
