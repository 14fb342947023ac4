"""Standard output whose errors name it: a full disk alone does not say which file was written."""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NAME = "standard output"


class StandardOutput(io.FileIO):
    """The bytes of standard output; an `OSError` has the file name `NAME`."""

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write bytes and return how many were written."""
        try:
            return super().write(data)
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise OSError(error.errno, reason, NAME) from None


def open_standard_files() -> None:
    """Let `sys.stdout` write UTF-8 in any locale, and name itself in errors; open what the shell has closed.

    A command that prints nothing works also after >&-, and no file that is opened later gets the number 1. After 2>&-,
    messages go nowhere; `print` would take standard output.
    """
    for name, number, mode in (("stdout", 1, os.O_RDONLY), ("stderr", 2, os.O_WRONLY)):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, mode), number)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115
    try:
        raw = StandardOutput(sys.stdout.fileno(), "wb", closefd=False)
    except io.UnsupportedOperation:
        return  # a test has replaced it
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8",
        errors="backslashreplace",  # a name of a file may have bytes that are not UTF-8
        newline="\n",
        line_buffering=bool(sys.stdout.line_buffering),
    )


def discard_output() -> None:
    """Write the rest of standard output nowhere, so that Python reports no error when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
