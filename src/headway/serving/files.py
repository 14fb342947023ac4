"""Files of requests: those that clients send, and the translated ones until they are fetched."""

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath

from headway.config import ServerConfig
from headway.serving.rejection import Rejection, overloaded

KEPT_SECONDS = 1800.0  # from a translation until its file can no longer be fetched
KEPT_FILES = 20  # as large as a request may send, and as many bytes of reports; then the oldest go


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
        is_report: Whether it says something about another file.
    """

    name: str
    data: bytes
    made_at: float
    is_report: bool = False


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
        kept = [TranslatedFile(name, data, made_at)]
        if report is not None:
            kept.append(TranslatedFile(f"{name}.quality.tsv", report, made_at, is_report=True))
        if max(len(file.data) for file in kept) > self._room:
            raise Rejection(413, "The translated file is too large for this server")
        addresses = [f"{secrets.token_urlsafe(24)}.{file.name}" for file in kept]
        self._files |= zip(addresses, kept, strict=True)
        self._remove_old()
        return addresses

    def find(self, address: str) -> TranslatedFile:
        """Return a translated file.

        Raises:
            Rejection: 404 if there is none of this address, or no more.
        """
        self._remove_old()
        if address not in self._files:
            raise Rejection(
                404,
                "There is no such file: translated files are kept for 30 minutes, if there is room",
            )
        return self._files[address]

    def _remove_old(self) -> None:
        """Drop the files that are too old, and the oldest ones if there is no room for the others."""
        sizes = {False: 0, True: 0}  # of files and of reports, whose rooms are equal
        for address, file in reversed([*self._files.items()]):  # the newest first
            sizes[file.is_report] += len(file.data)
            is_old = time.monotonic() - file.made_at > KEPT_SECONDS
            if is_old or sizes[file.is_report] > self._room:
                del self._files[address]
