"""Processes in which the files of strangers are read and written, with limits of time and memory.

A process holds the file that it has read until it has written the translated one.
"""

import asyncio
import logging
import multiprocessing
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any
from weakref import finalize

from headway.errors import HeadwayError
from headway.ext.documents import (
    Document,
    DocumentOptions,
    Paragraph,
    Translated,
    name_places,
    open_document,
)
from headway.ext.server.rejection import FAILED, Rejection, find_place, overloaded
from headway.ext.server.text_threads import lower_priority

log = logging.getLogger("headway.ext.server")
MOST_SECONDS = 60  # of the processor, for each file
MOST_BYTES = 1 << 30  # of memory


class FileProcess:
    """A process that reads and writes one file after the other; of a file, what `open` returns is translated."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of its answers
        self.is_idle = True  # whether it has answered everything
        self.kill = finalize(self, _end, self._process)  # whatever it does

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.is_alive()

    async def open(
        self, data: bytes, name: str, options: DocumentOptions, has_places: bool = False
    ) -> list[Paragraph]:
        """Return the paragraphs of a file, with those elements alone whose text stays.

        Args:
            data: The content of the file.
            name: Its name.
            options: What is known about the translation.
            has_places: Whether the paragraphs say where a person finds them.

        Raises:
            Rejection: 400 if the file cannot be read, 413 if that takes too much time or memory.
        """
        found = await self._ask("open", data, name, options, has_places)
        return await asyncio.to_thread(lambda: [Paragraph.of(*each) for each in found])

    async def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file that was read, with its paragraphs replaced.

        Raises:
            Rejection: As for `open`.
        """
        data: bytes = await self._ask("write", translations)
        return data

    async def _ask(self, *asked: Any) -> Any:
        self.is_idle = False
        try:
            status, found = await asyncio.to_thread(self._exchange, asked)
        except (OSError, EOFError):  # the process has ended
            raise Rejection(
                413, "Invalid request: the file takes too much time or memory: divide it"
            ) from None
        self.is_idle = True
        if status == 500:
            log.error("cannot read or write a file: %s", found)
            raise Rejection(500, FAILED)
        if status == 400:
            raise Rejection(400, f"Invalid request: {found}")
        return found

    def _exchange(self, asked: tuple[Any, ...]) -> Any:
        self._connection.send(asked)
        return self._connection.recv()


def _end(process: BaseProcess) -> None:
    process.kill()
    process.join()


class FileProcesses:
    """As many processes as files are translated at a time; they are started when they are needed, and replaced when they end.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        self._places = asyncio.Semaphore(count)
        self._idle: list[FileProcess] = []

    @asynccontextmanager
    async def take(self, waits: bool) -> AsyncIterator[FileProcess]:
        """Lend a process while a file is read. If the file is no longer wanted, the process is ended.

        Args:
            waits: Wait for a process if all are taken.

        Raises:
            Rejection: 429 if all are taken.
        """
        if self._places.locked() and not waits:
            raise overloaded(30)
        async with self._places:
            self._idle = [process for process in self._idle if process.is_running]
            process = self._idle.pop() if self._idle else FileProcess()
            try:
                yield process
            finally:
                if process.is_idle:
                    self._idle.append(process)
                else:
                    process.kill()

    def close(self) -> None:
        """End all processes that do nothing."""
        while self._idle:
            self._idle.pop().kill()


def serve(connection: Connection) -> None:
    """Read and write files until the server closes the connection; the end of the process tells it of too little memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a signal of the terminal is for the server
    lower_priority()
    document: Document | None = None
    with suppress(EOFError, MemoryError):
        while True:
            task, *arguments = connection.recv()
            _limit()
            try:
                answer: object
                if task == "open":
                    data, name, options, has_places = arguments
                    document = open_document(data, name, options)
                    if has_places:
                        name_places(document)
                    paragraphs = document.paragraphs
                    answer = 200, [(p.text, p.kept, p.place) for p in paragraphs]
                else:
                    assert document is not None
                    answer = 200, document.write(*arguments)
            except HeadwayError as error:
                answer = 400, str(error) if task == "open" else f"the file {error}"
            except MemoryError:
                raise
            except Exception as error:  # its message may hold text of the file
                answer = 500, f"{type(error).__name__} at {find_place(error)}"
            connection.send(answer)


def _limit() -> None:
    """Let the system end this process if it takes too long from now on; memory has the same limit always."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + MOST_SECONDS
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
