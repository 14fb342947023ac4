"""What a process that reads files of strangers may do instead; it is started anew, and imports this module."""

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NoReturn

from headway.ext.server import file_process


def loop(connection: Connection) -> None:
    """Never end."""

    def read(*_: object) -> None:
        while True:
            pass

    _serve(read, connection)


def take_memory(connection: Connection) -> None:
    """Take more memory than there is."""
    _serve(lambda *_: bytes(1 << 30), connection)


def crash(connection: Connection) -> None:
    """End as by a fault of a library."""
    _serve(lambda *_: os.abort(), connection)


def fail(connection: Connection) -> None:
    """Raise an exception with a text of the file."""

    def read(*_: object) -> NoReturn:
        raise ValueError("the secret cat")

    _serve(read, connection)


def run_endlessly(connection: Connection) -> None:
    """Answer nothing."""
    while True:
        pass


def _serve(read: Callable[..., object], connection: Connection) -> None:
    file_process.MOST_SECONDS, file_process.MOST_BYTES = 1, 300_000_000
    file_process.open_document = read  # type: ignore[assignment]
    file_process.serve(connection)
