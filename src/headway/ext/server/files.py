"""Files of requests: those that clients send, and the translated ones until they are fetched."""

import asyncio
import re
import secrets
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from headway.ext.server.file_process import FileProcesses
from headway.ext.server.rejection import Rejection, overloaded, reject
from headway.ext.server.server_settings import ServerConfig

MOST_JOBS, MOST_OF_A_CLIENT = 20, 10  # that wait or run
KEPT_SECONDS = 1800.0  # from a translation until its file can no longer be fetched
KEPT_FILES = 20  # of the largest size, each with a table of quality as large; then the oldest go
LONGEST_NAME = 100  # characters
BYTES_OF_A_JOB = 16_384  # however small its files are
GONE = "There is no such file: translated files are kept for 30 minutes, if there is room"


class Upload:
    """A file of a request: its name without folders, of a very long one the end, and its content."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = PurePath(name[-LONGEST_NAME:]).name, data


@dataclass(frozen=True)
class TranslatedFile:
    """A file that waits to be fetched: its name for the client, such as ``report.de.md``, and its content."""

    name: str
    data: bytes


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


@dataclass(eq=False)
class FileJob:
    """The translation of a file, and what came of it.

    Attributes:
        client: The name of the key's owner, or the address of the client.
        key: What a client that asks for the job must know; "": its client waits, and later fetches the file by its address.
        name: That of the job, which cannot be guessed.
        done: Characters that are translated.
        total: Those of the file.
        started_at: When its turn came, in seconds; 0.0: it waits.
        ended_at: When it ended; 0.0: it has not ended.
        files: The translated file; behind it the table of its quality, if the client has asked for that. Empty: there is none.
        quality: The mean of its sentences, from 0 to 1; None if the client did not ask for it.
        error: Why it failed, or "".
        task: Runs it; None: its client waits for it.
    """

    client: str
    key: str = ""
    name: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    done: int = 0
    total: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    files: list[TranslatedFile] = field(default_factory=list)
    quality: float | None = None
    error: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """Bytes of its files, and of what else is known about it."""
        return BYTES_OF_A_JOB + sum(len(file.data) for file in self.files)

    @property
    def seconds_remaining(self) -> int | None:
        """About how long it goes on; None if that is not known."""
        if not self.done or not self.started_at:
            return None
        return round((time.monotonic() - self.started_at) * (self.total - self.done) / self.done)

    def address_of(self, file: TranslatedFile) -> str:
        """Return the end of the address at which a file of this job is fetched."""
        return f"{self.name}.{file.name}"


class Files:
    """Runs translations of files, some at a time, and keeps translated files in memory for a while.

    Args:
        config: Limits.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.processes = FileProcesses(config.file_jobs)
        self._jobs: dict[str, FileJob] = {}  # in the order in which they have started, or ended
        self._room = KEPT_FILES * (2 * config.file_limit + BYTES_OF_A_JOB)

    def start(self, job: FileJob, work: Coroutine[Any, Any, None]) -> None:
        """Do the work of a job while its client asks how far it is.

        Args:
            job: Changed by the work.
            work: Translates a file, when its turn comes.

        Raises:
            Rejection: 429 if too many files wait, of all clients or of this one.
        """
        going_on = [each for each in self._jobs.values() if not each.ended_at]
        own = sum(each.client == job.client for each in going_on)
        if len(going_on) >= MOST_JOBS or own >= MOST_OF_A_CLIENT:
            work.close()
            raise overloaded(60)
        self._jobs[job.name] = job
        job.task = asyncio.ensure_future(self._run(job, work))

    async def _run(self, job: FileJob, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except TimeoutError:
            job.error = f"This took more than {self.config.file_deadline:g} seconds"
        except Exception as error:
            job.error = reject(error).message
        finally:
            if job.name in self._jobs and not job.ended_at:  # it has not been given up
                self._end(job)

    def keep(self, job: FileJob) -> None:
        """Keep the files of a job; the oldest of other jobs go if there is no room for them.

        Raises:
            Rejection: 413 if there never is room.
        """
        if job.size > self._room:
            job.files = []
            raise Rejection(413, "The translated file is too large for this server")
        self._end(job)

    def _end(self, job: FileJob) -> None:
        job.ended_at = time.monotonic()
        self._jobs.pop(job.name, None)
        self._jobs[job.name] = job
        self._forget_old()

    def find_file(self, address: str) -> TranslatedFile:
        """Return a translated file.

        Raises:
            Rejection: 404 if there is none of this address, or no more.
        """
        self._forget_old()
        job = self._jobs.get(address.partition(".")[0])
        if job is not None and not job.key:
            for file in job.files:
                if address == job.address_of(file):
                    return file
        raise Rejection(404, GONE)

    def find_job(self, name: str, key: str, owner: str) -> FileJob:
        """Return a job.

        Args:
            name: Its name.
            key: What its client must know.
            owner: The name of the key's owner; "" on a server without keys.

        Raises:
            Rejection: 404 if there is none with this name and key, or no more.
        """
        self._forget_old()
        found = self._jobs.get(name.upper())
        given = key.upper().encode("utf-8", "replace")
        if (
            found is None
            or not found.key
            or (owner and found.client != owner)
            or not secrets.compare_digest(given, found.key.encode())
        ):
            raise Rejection(404, "Document not found")
        return found

    def cancel(self, job: FileJob) -> None:
        """End a job, if it goes on, and forget it."""
        del self._jobs[job.name]
        if job.task is not None:
            job.task.cancel()

    async def close(self) -> None:
        """End all jobs, and the processes."""
        await asyncio.sleep(0)  # a task that has not begun would not say that its job has ended
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.processes.close()

    def _forget_old(self) -> None:
        ended = [job for job in self._jobs.values() if job.ended_at]  # the oldest first
        size, now = sum(job.size for job in ended), time.monotonic()
        for job in ended:
            if size <= self._room and now - job.ended_at <= KEPT_SECONDS:
                return
            size -= job.size
            del self._jobs[job.name]
