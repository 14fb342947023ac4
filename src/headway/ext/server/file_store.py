"""Files of requests: those that clients send, and the translated ones until they are fetched."""

import asyncio
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath

from headway.ext.server.file_process import FileProcess, FileProcesses
from headway.ext.server.rejection import Rejection, overloaded
from headway.ext.server.server_settings import ServerConfig

KEPT_SECONDS = 1800.0  # from a translation until its file can no longer be fetched
KEPT_FILES = 20  # as large as a request may send, and as many bytes of reports; then the oldest go
MOST_FILES = 10_000  # however small they are: their names and addresses take room, too
GONE = "There is no such file: translated files are kept for 30 minutes, if there is room"


@dataclass(frozen=True)
class Upload:
    """A file of a request: its name as the client gives it, and its content."""

    name: str
    data: bytes

    @property
    def short_name(self) -> str:
        """The name without folders, for messages; of a very long one the end."""
        return PurePath(self.name).name[-100:]


@dataclass(frozen=True)
class TranslatedFile:
    """A file that waits to be fetched.

    Attributes:
        name: For the client, such as ``report.de.md``.
        data: Its content.
        made_at: Time in seconds.
    """

    name: str
    data: bytes
    made_at: float


def name_translation(name: str, language: str) -> str:
    """Return the name of a translated file, such as ``report.de.md``.

    Args:
        name: Of the file, as the client gives it.
        language: Code of the translation.
    """
    path = PurePath(name)
    stem = re.sub(r"[^\w.-]+", "_", path.stem)[:60].strip(".") or "file"
    suffix = re.sub(r"[^.\w]", "", path.suffix.lower())
    return f"{stem}.{language}{suffix}"


class _Shelf:
    """Files by their addresses, in the order of their age.

    Args:
        room: Bytes of all files together.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._files: OrderedDict[str, TranslatedFile] = OrderedDict()
        self._size = 0

    def add(self, address: str, file: TranslatedFile) -> None:
        """Keep a file; the oldest ones go if there is no room for them."""
        self._files[address] = file
        self._size += len(file.data)
        self._remove_old()

    def get(self, address: str) -> TranslatedFile | None:
        """Return the file of an address; None if there is none, or no more."""
        self._remove_old()
        return self._files.get(address)

    def _remove_old(self) -> None:
        while self._files:
            oldest = next(iter(self._files.values()))
            is_old = time.monotonic() - oldest.made_at > KEPT_SECONDS
            if not (is_old or self._size > self.room or len(self._files) > MOST_FILES):
                return
            self._files.popitem(last=False)
            self._size -= len(oldest.data)


class FileStore:
    """Keeps translated files in memory for a while, and limits how many are translated at once.

    Args:
        config: Limits.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self._places = asyncio.Semaphore(config.file_jobs)
        self.processes = FileProcesses()
        room = KEPT_FILES * config.file_limit
        # A client that asks for reports must not drive out the files of others sooner.
        self._files, self._reports = _Shelf(room), _Shelf(room)

    @asynccontextmanager
    async def reserve(self, waits: bool = False) -> AsyncIterator[FileProcess]:
        """Take one of the places for files that are translated at the same time, with the process that reads and writes the file.

        Args:
            waits: Wait for a place if all are taken.

        Raises:
            Rejection: 429 if all are taken.
        """
        if self._places.locked() and not waits:
            raise overloaded(30)
        async with self._places, self.processes.take() as process:
            yield process

    def add(self, data: bytes, name: str, report: bytes | None = None) -> list[str]:
        """Keep a file and a report on it; return the unguessable ends of their addresses.

        Args:
            data: The file.
            name: From `name_translation`.
            report: A table on the quality; None: there is none.

        Raises:
            Rejection: 413 if there is no room for them.
        """
        made_at = time.monotonic()
        kept = [(self._files, TranslatedFile(name, data, made_at))]
        if report is not None:
            kept.append((self._reports, TranslatedFile(f"{name}.quality.tsv", report, made_at)))
        if any(len(file.data) > shelf.room for shelf, file in kept):
            raise Rejection(413, "The translated file is too large for this server")
        addresses = []
        for shelf, file in kept:
            addresses.append(f"{secrets.token_urlsafe(24)}.{file.name}")
            shelf.add(addresses[-1], file)
        return addresses

    def find(self, address: str) -> TranslatedFile:
        """Return a translated file.

        Raises:
            Rejection: 404 if there is none of this address, or no more.
        """
        found = self._get(address)
        if found is None:
            raise Rejection(404, GONE)
        return found

    def has(self, address: str) -> bool:
        """Return whether there is a file of this address."""
        return self._get(address) is not None

    def _get(self, address: str) -> TranslatedFile | None:
        return self._files.get(address) or self._reports.get(address)
