"""Files of requests: those that clients send, and the translated ones until they are fetched."""

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath

from headway.config import ServerConfig
from headway.serving.rejection import Rejection, overloaded

KEPT_SECONDS = 1800.0  # from a translation until its file can no longer be fetched
KEPT_FILES = 20  # as large as a request may send; then the oldest go


@dataclass(frozen=True)
class Upload:
    """A file of a request: its name as the client gives it, and its content."""

    name: str
    data: bytes


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


class FileStore:
    """Keeps translated files in memory for a while, and limits how many are translated at once.

    Args:
        config: Limits.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self._places = asyncio.Semaphore(config.file_jobs)
        self._files: dict[str, TranslatedFile] = {}
        self._room = KEPT_FILES * config.file_limit  # bytes

    @asynccontextmanager
    async def reserve(self, waits: bool = False) -> AsyncIterator[None]:
        """Take one of the places for files that are translated at the same time.

        Args:
            waits: Wait for a place if all are taken.

        Raises:
            Rejection: 429 if all are taken.
        """
        if self._places.locked() and not waits:
            raise overloaded(30)
        async with self._places:
            yield

    def add(self, files: Mapping[str, bytes]) -> list[str]:
        """Keep files that belong together; return the unguessable ends of their addresses.

        Args:
            files: Their contents by their names, of which `name_translation` makes the first.

        Raises:
            Rejection: 413 if there is no room for them.
        """
        size = sum(map(len, files.values()))
        if size > self._room:
            raise Rejection(413, "The translated file is too large for this server")
        self._remove_old(size)
        made_at, addresses = time.monotonic(), []
        for name, data in files.items():
            addresses.append(f"{secrets.token_urlsafe(24)}.{name}")
            self._files[addresses[-1]] = TranslatedFile(name, data, made_at)
        return addresses

    def find(self, address: str) -> TranslatedFile:
        """Return a translated file.

        Raises:
            Rejection: 404 if there is none of this address, or no more.
        """
        self._remove_old(0)
        if address not in self._files:
            raise Rejection(404, "There is no such file: translated files are kept for 30 minutes")
        return self._files[address]

    def _remove_old(self, size: int) -> None:
        """Drop the files that are too old, and the oldest ones if there is no room for another."""
        size += sum(len(file.data) for file in self._files.values())
        for address, file in list(self._files.items()):  # the oldest first
            is_old = time.monotonic() - file.made_at > KEPT_SECONDS
            if not is_old and size <= self._room:
                break
            size -= len(file.data)
            del self._files[address]
