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


def name_standard_output() -> None:
    """Let `sys.stdout` write UTF-8 in any locale, and name itself in errors."""
    if sys.stdout is None:
        # The shell's >&- has closed it. A command that prints nothing works all the same, and no file
        # that is opened later gets the number 1.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 1)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return  # a test has replaced it
    try:
        raw = StandardOutput(sys.stdout.fileno(), "wb", closefd=False)
    except io.UnsupportedOperation:
        return
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8",
        errors="backslashreplace",  # a name of a file may have bytes that are not UTF-8
        newline="\n",
        line_buffering=sys.stdout.line_buffering,
    )


def discard_errors_if_closed() -> None:
    """Write standard error nowhere if the shell's 2>&- has closed it; `print` would take standard output."""
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def discard_output() -> None:
    """Write the rest of standard output nowhere, so that Python reports no error when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
