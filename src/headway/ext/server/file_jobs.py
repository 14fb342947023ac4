"""Translations of files that go on while the client asks how far they are."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from headway.errors import HeadwayError
from headway.ext.server.file_process import FileProcess
from headway.ext.server.file_store import KEPT_SECONDS, FileStore
from headway.ext.server.file_translation import FileProgress, KeptDocument
from headway.ext.server.rejection import FAILED, Rejection, overloaded
from headway.ext.server.server_settings import ServerConfig

Work = Callable[[FileProcess], Awaitable[KeptDocument]]
log = logging.getLogger("headway.ext.server")
MOST_JOBS, MOST_OF_A_CLIENT = 20, 10  # that wait or run
MAX_JOBS = 1_000  # that are remembered; the oldest ones that have ended go first


@dataclass
class FileJob:
    """The translation of a file.

    Attributes:
        client: The name of the key's owner, or the address of the client.
        progress: How far it is.
        key: A secret of the client that sent the file.
        started_at: When its turn came, in seconds; 0.0: it waits.
        ended_at: When it ended; 0.0: it has not ended.
        kept: The translated file; None if there is none.
        error: Why it failed, or "".
        task: Runs it; None: it has not begun.
    """

    client: str
    progress: FileProgress
    key: str = field(default_factory=lambda: secrets.token_hex(32).upper())
    started_at: float = 0.0
    ended_at: float = 0.0
    kept: KeptDocument | None = None
    error: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def seconds_remaining(self) -> int | None:
        """About how long it goes on; None if that is not known."""
        done, total = self.progress.done, self.progress.total
        if not done or not self.started_at:
            return None
        return round((time.monotonic() - self.started_at) * (total - done) / done)


class FileJobs:
    """Runs the translations of files one after the other, some at a time.

    Args:
        files: Keeps the translated files, and knows how many are translated at the same time.
        config: Limits.
    """

    def __init__(self, files: FileStore, config: ServerConfig) -> None:
        self.files, self.config = files, config
        self._jobs: dict[str, FileJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, client: str, progress: FileProgress, work: Work) -> str:
        """Start a job when its turn comes.

        Args:
            client: The name of the key's owner, or the address of the client.
            progress: Changed by the work.
            work: Translates the file with a process, and keeps the translated one.

        Returns:
            The name of the job.

        Raises:
            Rejection: 429 if too many files wait, of all clients or of this one.
        """
        self._forget_old()
        own = sum(job.client == client and not job.ended_at for job in self._jobs.values())
        if len(self._tasks) >= MOST_JOBS or own >= MOST_OF_A_CLIENT:
            raise overloaded(60)
        job, name = FileJob(client, progress), secrets.token_hex(16).upper()
        self._jobs[name] = job
        job.task = task = asyncio.ensure_future(self._run(job, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return name

    def key_of(self, name: str) -> str:
        """Return the secret of a job that was just started."""
        return self._jobs[name].key

    def find(self, name: str, key: str, owner: str) -> FileJob:
        """Return a job.

        Args:
            name: From `start`.
            key: Its secret.
            owner: The name of the key's owner; "" on a server without keys.

        Raises:
            Rejection: 404 if there is none with this name and key, or no more.
        """
        self._forget_old()
        found = self._jobs.get(name.upper())
        given = key.upper().encode("utf-8", "replace")
        if (
            found is None
            or (owner and found.client != owner)
            or not secrets.compare_digest(given, found.key.encode())
        ):
            raise Rejection(404, "Document not found")
        return found

    def cancel(self, name: str, key: str, owner: str) -> None:
        """End a job, if it goes on, and forget it.

        Raises:
            Rejection: As for `find`.
        """
        job = self.find(name, key, owner)
        del self._jobs[name.upper()]
        if job.task is not None:
            job.task.cancel()

    async def close(self) -> None:
        """End all jobs."""
        await asyncio.sleep(0)  # a task that has not begun would not say that its job has ended
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, job: FileJob, work: Work) -> None:
        try:
            async with self.files.reserve(waits=True) as process:
                job.started_at = time.monotonic()
                async with asyncio.timeout(self.config.file_deadline):
                    job.kept = await work(process)
        except Rejection as error:
            job.error = error.message
        except TimeoutError:
            job.error = f"This took more than {self.config.file_deadline:g} seconds"
        except HeadwayError as error:
            log.error("cannot translate a file: %s", error)
            job.error = str(error).splitlines()[0]
        except Exception as error:  # its message may hold text of the file
            log.error("cannot translate a file: %s", type(error).__name__)
            job.error = FAILED
        finally:
            job.ended_at = time.monotonic()

    def _forget_old(self) -> None:
        for name, job in list(self._jobs.items()):  # the oldest first
            is_old = time.monotonic() - job.ended_at > KEPT_SECONDS
            if job.ended_at and (is_old or len(self._jobs) > MAX_JOBS):
                del self._jobs[name]
