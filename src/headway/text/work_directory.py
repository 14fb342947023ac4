"""The directory of unfinished work, which names what its results depend on, so that other work does not use them.

A worker on another machine may go on with a chunk for a while after its command has ended. So results are in a
folder that is named after what they depend on, which the next command does not use, or uses rightly.
"""

import hashlib
import json
from collections.abc import Mapping
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
        dropped: Why the results of interrupted work were dropped; empty: there were none, or they are of use.

    Raises:
        HeadwayError: On entry, if another process works here.
    """

    def __init__(self, path: Path, out: Path, identity: Mapping[str, str]) -> None:
        self._path = path
        self._content = f"{json.dumps(dict(identity), indent=2)}\n"
        self._identity = identity
        self.directory = path / hashlib.sha256(self._content.encode()).hexdigest()[:16]
        self.dropped = ""
        self._lock = DirectoryLock(path, out)

    def __enter__(self) -> "WorkDirectory":
        self._path.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            remove_leftovers(self._path)
            self._compare()
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
        """Delete the results; the identity last, so that a killed deletion is recognized."""
        for entry in self._path.iterdir():
            if entry.name not in (LOCK, IDENTITY):
                # A result that is half deleted must not be taken for a whole one.
                remove(entry.rename(temporary_path(entry)))
        remove(self._path / IDENTITY)

    def _compare(self) -> None:
        """Drop the results of other work, and record what the results depend on."""
        path = self._path / IDENTITY
        is_new = not path.exists()
        if not is_new:
            try:
                self.dropped = _find_difference(json.loads(path.read_bytes()), self._identity)
            except (ValueError, AttributeError):
                self.dropped = f"{path} is damaged"
        if is_new or self.dropped:
            self.clear()
            replace_text(path, self._content)


def _find_difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say in a few words what first differs between two identities; empty: nothing does."""
    for name in [*now, *before]:
        old, new = before.get(name), now.get(name)
        if old != new:
            is_short = old and new and max(len(old), len(new)) <= SHORT
            return f"{name} was {old} and is now {new}" if is_short else f"changed since: {name}"
    return ""
