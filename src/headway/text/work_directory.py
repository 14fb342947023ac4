"""The directory of unfinished work, which names what its results depend on, so that other work does not use them.

Results are in a folder that is named after what they depend on. A worker on another machine may go on with a chunk for a
while after its command has ended: a command with another identity uses another folder, and with the same identity the
late result is right.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from headway.files import remove, remove_leftovers, replace_text, temporary_path
from headway.locks import LOCK, DirectoryLock

IDENTITY = "identity.json"


class WorkDirectory(NamedTuple):
    """The directory of unfinished work.

    Attributes:
        path: The directory.
        directory: The folder in it that holds the results.
        dropped: Why results of interrupted work were dropped; empty if none were.
    """

    path: Path
    directory: Path
    dropped: str

    def clear(self) -> None:
        """Delete the results."""
        _discard(entry for entry in [*self.path.iterdir()] if entry.name != LOCK)


@contextmanager
def open_work(path: Path, out: Path, identity: Mapping[str, str]) -> Iterator[WorkDirectory]:
    """Open a directory of unfinished work; inside the ``with`` block no other process works there.

    Args:
        path: The directory, which need not exist.
        out: What the work makes, for messages.
        identity: What the results depend on, by the name that a message uses.

    Raises:
        HeadwayError: If another process works here.
    """
    content = f"{json.dumps(dict(identity), indent=2, sort_keys=True)}\n"
    directory = path / hashlib.sha256(content.encode()).hexdigest()[:16]
    path.mkdir(parents=True, exist_ok=True)
    with DirectoryLock(path, out):
        remove_leftovers(path)
        dropped = _drop_others(path, directory, identity)
        replace_text(path / IDENTITY, content)
        directory.mkdir(exist_ok=True)
        work = WorkDirectory(path, directory, dropped)
        try:
            yield work
        finally:
            if directory.exists() and not any(directory.iterdir()):
                work.clear()  # nothing was done: leave no trace


def _drop_others(path: Path, directory: Path, identity: Mapping[str, str]) -> str:
    """Drop the results of other work, and return why; an empty string if there are none."""
    kept = LOCK, IDENTITY, directory.name
    if not (others := [entry for entry in path.iterdir() if entry.name not in kept]):
        return ""
    before: dict[str, str] = {}
    with suppress(OSError, ValueError, TypeError):  # the record is missing or damaged
        before = dict(json.loads((path / IDENTITY).read_bytes()))
    _discard(others)
    names = [name for name in {**identity, **before} if before.get(name) != identity.get(name)]
    return (
        f"changed since: {names[0]}" if before and names else "of other settings or another version"
    )


def _discard(entries: Iterable[Path]) -> None:
    for entry in entries:
        # A result that is half deleted must not be taken for a whole one.
        renamed = entry.rename(temporary_path(entry))
        with suppress(OSError):  # a late worker of another machine writes into it
            remove(renamed)
