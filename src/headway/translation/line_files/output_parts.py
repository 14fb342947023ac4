"""The parts of a translated file, which several processes or machines write.

Part 2 of 5 of the file ``NAME`` is in ``NAME.2-of-5.partial`` until all five are finished. The process that
finishes the last one joins them. After that, ``NAME.parts.json`` says what was joined, so that a task that
is started once more does nothing.
"""

import json
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import replace_text, write_atomically
from headway.locks import lock_file
from headway.translation.line_files.resumable_output import State, compress, unfinished_files


@dataclass(frozen=True)
class OutputPart:
    """Part ``number`` of ``count`` of a file; part 1 of 1 is the file itself."""

    number: int = 1
    count: int = 1

    @property
    def suffix(self) -> str:
        """What is added to the name of the file; empty for the whole file."""
        return f".{self.number}-of-{self.count}" if self.count > 1 else ""

    def lines(self, total: int, window: int) -> range:
        """Return the lines of this part, from 0; a part begins and ends with a window of lines.

        Args:
            total: Lines of the whole.
            window: Lines of a window.
        """
        windows = -(-total // window)
        first, end = (windows * n // self.count for n in (self.number - 1, self.number))
        return range(min(first * window, total), min(end * window, total))


def is_joined(path: Path, identity: Mapping[str, str]) -> bool:
    """Return whether a file was joined from parts of this identity, and has not changed since."""
    try:
        record = json.loads(_record(path).read_bytes())
        return bool(record == {"identity": dict(identity), "bytes": path.stat().st_size})
    except (OSError, ValueError):
        return False


def join_parts(path: Path, identity: Mapping[str, str], count: int) -> list[str]:
    """Join the parts of a file if all are finished, and delete them.

    Several processes may do this at once: one of them joins, and the others wait for it.

    Returns:
        The numbers of the parts that are not finished, with the reason if it is special; empty: the file
        is complete.
    """
    if unfinished := _find_unfinished(path, identity, count):
        return unfinished
    with ExitStack() as stack:
        parts = []
        for part in _all_parts(count):
            try:
                # A process that joins or that has just finished may hold it.
                file = lock_file(unfinished_files(path, part.suffix)[0], wait=True, is_new=False)
            except FileNotFoundError:
                break
            parts.append(stack.enter_context(file))
        # Another process may have joined the parts meanwhile.
        if unfinished := _find_unfinished(path, identity, count):
            return unfinished
        if is_joined(path, identity):
            return []
        with write_atomically(path) as temporary, temporary.open("wb") as whole:
            for file in parts:
                shutil.copyfileobj(file, whole, 1 << 20)
            if not whole.tell():
                whole.write(compress("", path))
        record = {"identity": dict(identity), "bytes": path.stat().st_size}
        replace_text(_record(path), f"{json.dumps(record, indent=2)}\n")
        remove_parts(path, count)
    return []


def _find_unfinished(path: Path, identity: Mapping[str, str], count: int) -> list[str]:
    found = []
    for part in _all_parts(count):
        text, file = unfinished_files(path, part.suffix)
        try:
            state = State.read(file)
        except HeadwayError:
            state = None
        if state and (changes := state.find_changes(identity)):
            found.append(f"{part.number} (of another {changes})")
        elif not (
            state and state.is_finished and text.exists() and text.stat().st_size >= state.bytes
        ):
            found.append(str(part.number))
    # After the parts: a process that joins them deletes them when this is true.
    return [] if is_joined(path, identity) else found


def remove_parts(path: Path, count: int) -> None:
    """Delete the files of all parts."""
    for part in _all_parts(count):
        for file in unfinished_files(path, part.suffix):
            file.unlink(missing_ok=True)


def _all_parts(count: int) -> list[OutputPart]:
    return [OutputPart(number, count) for number in range(1, count + 1)]


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.parts.json")
