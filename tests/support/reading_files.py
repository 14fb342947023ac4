"""What a process that reads files of strangers may do instead; it is started anew, and imports this module."""

import os
from multiprocessing import parent_process

from headway.ext.server import file_process


def loop(connection):
    """Never end."""

    def read(*_):
        while True:
            pass

    _serve(read, connection)


def take_memory(connection):
    """Take more memory than there is."""
    _serve(lambda *_: bytes(1 << 30), connection)


def crash(connection):
    """End as by a fault of a library."""
    _serve(lambda *_: os.abort(), connection)


def fail(connection):
    """Raise an exception with a text of the file."""

    def read(*_):
        raise ValueError("the secret cat")

    _serve(read, connection)


def run_endlessly(connection):
    """Answer nothing, until the process that has started this one has ended."""
    while parent_process().is_alive():
        pass


def _serve(read, connection):
    file_process.MOST_SECONDS, file_process.MOST_BYTES = 1, 300_000_000
    file_process.open_document = read  # type: ignore[assignment]
    file_process.serve(connection)
