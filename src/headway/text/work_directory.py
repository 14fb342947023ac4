"""The directory of unfinished work, which names what its results depend on, so that other work does not use them.

Results are in a folder that is named after what they depend on. A worker on another machine may go on with a chunk for a
while after its command has ended: a command with another identity uses another folder, and with the same identity the
late result is right.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from headway.files import remove, remove_leftovers, replace_text, temporary_path
from headway.locks import LOCK, DirectoryLock

IDENTITY = "identity.json"
SHORT = 24  # characters of a value that a message shows; longer ones are digests


class WorkDirectory:
    """The directory of unfinished work; inside a ``with`` block no other process works there.

    Args:
        path: The directory, which need not exist.
        out: What the work makes, for messages.
        identity: What the results depend on, by the name that a message uses.

    Attributes:
        directory: The folder in it that holds the results.
        dropped: Why results of interrupted work were dropped; empty if none were.

    Raises:
        HeadwayError: On entry, if another process works here.
    """

    def __init__(self, path: Path, out: Path, identity: Mapping[str, str]) -> None:
        self._path = path
        self._content = f"{json.dumps(dict(identity), indent=2, sort_keys=True)}\n"
        self._identity = identity
        self.directory = path / hashlib.sha256(self._content.encode()).hexdigest()[:16]
        self.dropped = ""
        self._lock = DirectoryLock(path, out)

    def __enter__(self) -> "WorkDirectory":
        self._path.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            remove_leftovers(self._path)
            self._drop_others()
            self.directory.mkdir(exist_ok=True)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self.directory.exists() and not any(self.directory.iterdir()):
                self.clear()  # nothing was done: leave no trace
        finally:
            self._lock.release()

    def count_results(self, stage: str) -> int:
        """Return how many chunks of a stage are finished."""
        folders = (self.directory / stage).glob("[0-9]*")
        return sum(1 for folder in folders for _ in folder.glob("[0-9]*"))

    def clear(self) -> None:
        """Delete the results."""
        self._discard([entry for entry in self._path.iterdir() if entry.name != LOCK])

    def _drop_others(self) -> None:
        """Drop the results of other work, and record what the results depend on."""
        own = (LOCK, IDENTITY, self.directory.name)
        record = self._path / IDENTITY
        if others := [entry for entry in self._path.iterdir() if entry.name not in own]:
            with suppress(OSError, ValueError, AttributeError):  # it is missing or damaged
                self.dropped = _find_difference(json.loads(record.read_bytes()), self._identity)
            self.dropped = self.dropped or "of other settings or another version"
            self._discard(others)
        replace_text(record, self._content)

    def _discard(self, entries: Iterable[Path]) -> None:
        for entry in entries:
            # A result that is half deleted must not be taken for a whole one.
            renamed = entry.rename(temporary_path(entry))
            with suppress(OSError):  # a late worker of another machine writes into it
                remove(renamed)


def _find_difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say in a few words what first differs between two identities; empty: nothing does."""
    for name in [*now, *before]:
        old, new = before.get(name), now.get(name)
        if old != new:
            is_short = old and new and max(len(old), len(new)) <= SHORT
            return f"{name} was {old} and is now {new}" if is_short else f"changed since: {name}"
    return ""
