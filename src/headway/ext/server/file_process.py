"""Processes in which the files of strangers are read and written, with limits of time and memory.

A process holds the file that it has read until it has written the translated one. It gets and gives messages: two lengths,
a header in JSON, and the bytes of a file or none.
"""

import asyncio
import json
import logging
import os
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, astuple
from typing import IO, Any
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
from headway.ext.server.rejection import FAILED, Rejection, find_place
from headway.ext.server.text_threads import lower_priority
from headway.text import WordLinks

log = logging.getLogger("headway.ext.server")
MOST_SECONDS = 60  # of the processor, for each file
MOST_BYTES = 1 << 30  # of memory
_LENGTHS = struct.Struct("!QQ")


class FileProcess:
    """A process that reads and writes one file after the other; of a file, what `open` returns is translated."""

    def __init__(self) -> None:
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # a signal of the terminal is for the server
        )  # fmt: skip
        self.is_idle = True  # whether it has answered everything
        self.kill = finalize(self, _end, process)  # whatever it does

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    async def open(
        self, data: bytes, name: str, options: DocumentOptions, has_places: bool = False
    ) -> list[Paragraph[None]]:
        """Return the paragraphs of a file, with those elements alone whose text stays.

        Args:
            data: The content of the file.
            name: Its name.
            options: What is known about the translation.
            has_places: Whether the paragraphs say where a person finds them.

        Raises:
            Rejection: 400 if the file cannot be read, 413 if that takes too much time or memory.
        """
        header = {"name": name, "options": asdict(options), "places": has_places}
        found, _ = await self._ask(lambda: (header, data))
        return await asyncio.to_thread(lambda: [Paragraph.of(*each) for each in found])

    async def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file that was read, with its paragraphs replaced.

        Raises:
            Rejection: As for `open`.
        """
        _, data = await self._ask(lambda: ({"translations": [*map(_to_row, translations)]}, b""))
        return data

    async def _ask(self, make: Callable[[], tuple[object, bytes]]) -> tuple[Any, bytes]:
        """Return the answer to what a function makes, which may take a while."""
        self.is_idle = False
        try:
            found, data = await asyncio.to_thread(self._exchange, make)
        except (OSError, EOFError):  # the process has ended
            raise Rejection(
                413, "Invalid request: the file takes too much time or memory: divide it"
            ) from None
        self.is_idle = True
        if isinstance(found, dict):
            log.error("cannot read or write a file: %s", found["failed"])
            raise Rejection(500, FAILED)
        if isinstance(found, str):
            raise Rejection(400, f"Invalid request: {found}")
        return found, data

    def _exchange(self, make: Callable[[], tuple[object, bytes]]) -> tuple[Any, bytes]:
        given, taken = self._process.stdin, self._process.stdout
        assert given is not None
        assert taken is not None
        given.writelines(_pack(*make()))
        given.flush()
        answer = _unpack(taken)
        if answer is None:
            raise EOFError
        return answer


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe and pipe.close()


class FileProcesses:
    """As many processes as files are translated at a time; they are started when they are needed, and replaced when they end."""

    def __init__(self) -> None:
        self._idle: list[FileProcess] = []

    @asynccontextmanager
    async def take(self) -> AsyncIterator[FileProcess]:
        """Lend a process for the time of a file; what still works for a file that nobody wants is ended."""
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


def _pack(header: object, data: bytes) -> list[bytes]:
    """Return the parts of a message."""
    written = json.dumps(header).encode()
    return [_LENGTHS.pack(len(written), len(data)), written, data]


def _unpack(taken: IO[bytes]) -> tuple[Any, bytes] | None:
    """Return the header and the bytes of the next message; None if there is none, or it ends too early."""
    lengths = taken.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    sizes = _LENGTHS.unpack(lengths)
    header, data = (taken.read(size) for size in sizes)
    return (json.loads(header), data) if (len(header), len(data)) == sizes else None


def _to_row(translated: Translated) -> list[Any]:
    links, kept = translated.links, [[at, *span] for at, span in translated.kept.items()]
    return [translated.text, links and astuple(links), kept, translated.is_missing]


def _to_translated(row: Sequence[Any]) -> Translated:
    text, links, kept, is_missing = row
    spans = links and WordLinks(*([(start, end) for start, end in each] for each in links))
    return Translated(text, spans, {at: (start, end) for at, start, end in kept}, is_missing)


def serve(taken: IO[bytes], given: IO[bytes]) -> None:
    """Read and write files until there are no messages.

    Args:
        taken: Has the messages of the server.
        given: Gets the answers: a text is a mistake in the file.
    """
    document: Document | None = None
    while message := _unpack(taken):
        asked, data = message
        _limit()
        answer: object = []
        try:
            if "options" in asked:
                given_options = asked["options"]
                columns = tuple(given_options.pop("columns"))
                options = DocumentOptions(**given_options, columns=columns)
                document = open_document(data, asked["name"], options)
                if asked["places"]:
                    name_places(document)
                paragraphs = document.paragraphs
                data, answer = b"", [(p.text, p.kept, p.is_name, p.place) for p in paragraphs]
            else:
                assert document is not None
                data = document.write([*map(_to_translated, asked["translations"])])
        except HeadwayError as error:
            data, answer = b"", str(error) if "options" in asked else f"the file {error}"
        except MemoryError:
            raise
        except Exception as error:  # its message may hold text of the file
            data, answer = b"", {"failed": f"{type(error).__name__} at {find_place(error)}"}
        given.writelines(_pack(answer, data))
        given.flush()


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


def main() -> None:
    """Serve the process that has started this one; what code prints is no answer."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lower_priority()
    with suppress(MemoryError):  # the server is told by the end of the answers
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
