"""The error for a user's mistake, suggestions for misspelled names, and packages that are missing."""

import difflib
from collections.abc import Iterable

GROUPS = (
    "all",
    "dev",
    "docs",
)  # extras that bring what others bring, or what only Headway's builders need


class HeadwayError(ValueError):
    """A user's mistake: one line that names the file, line or field and says what would be right.

    The command prints the message without a traceback and exits with 1. Any other exception that
    reaches the user is a bug.
    """


class UsageError(HeadwayError):
    """A `HeadwayError` in an argument or setting itself; the command exits with 2."""


class LostRankError(HeadwayError):
    """Another process of a training under ``torchrun`` has ended; its own message says why."""


class LostWorkersError(HeadwayError):
    """Processes that worked on a large text were lost, for no fault of the text; what is finished is kept."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out; on a processor torch raises a plain `RuntimeError` then."""
    words = ("allocate memory", "not enough memory", "out of memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


def suggest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name closest to ``name``, or an empty string."""
    near = find_closest(name, known)
    return f" (did you mean '{near}'?)" if near else ""


def find_closest(name: str, known: Iterable[str]) -> str:
    """Return the known name closest to ``name``, or an empty string if none is similar.

    Names that begin with ``name`` are preferred: it is probably an abbreviation.
    """
    names = list(known)
    longer = [other for other in names if name and other.startswith(name)]
    close = difflib.get_close_matches(name, longer or names, n=1, cutoff=0.0 if longer else 0.6)
    return close[0] if close else ""


def require_packages(*modules: str) -> None:
    """Check, before the work that needs them begins, that packages are installed.

    Raises:
        HeadwayError: If one is missing; it says what to install.
    """
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise HeadwayError(f"this {explain_missing(module)}")


def explain_missing(module: str) -> str:
    """Say what to install for a module that is missing: an extra of Headway, if one brings it."""
    from importlib.metadata import PackageNotFoundError, requires

    name = module.partition(".")[0]
    try:
        required = requires("headway") or []
    except PackageNotFoundError:  # Headway itself is not installed: it runs from its directory
        required = []
    for line in required:
        # The name of a package may be longer than that of its module: markdown-it-py has markdown_it.
        package, _, extra = line.partition(' extra == "')
        extra = extra.rstrip('"')
        if extra and extra not in GROUPS and package.replace("-", "_").startswith(name):
            return f"needs {name}: pip install 'headway[{extra}]'"
    return f"needs {name}: pip install {name}"
