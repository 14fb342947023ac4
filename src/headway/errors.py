"""The one error of a user's mistake, and how errors of others are told apart."""

import difflib
from collections.abc import Iterable


class HeadwayError(ValueError):
    """A user's mistake: the message is one line that names the file, line or field and what is right.

    The command prints it without a traceback and exits with 1. Anything else that escapes is a bug.
    """


def memory_ran_out(error: BaseException) -> bool:
    """Whether an error says so; torch has a type for it on a GPU and only words on a processor."""
    words = ("allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name closest to ``name``, or an empty string."""
    near = nearest_of(name, known)
    return f" (did you mean '{near}'?)" if near else ""


def nearest_of(name: str, known: Iterable[str]) -> str:
    """Return the known name closest to ``name``, or an empty string if none is like it."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return close[0] if close else ""
