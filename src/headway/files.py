"""Files and directories that appear whole and on disk, or not at all.

What is being written lies beside its place, under a name that begins with ``.tmp-``. A process that
is killed leaves it there; `remove_leftovers` deletes it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TEMPORARY = ".tmp-"


def cache_directory() -> Path:
    """Return where lies what can be made again: $HEADWAY_CACHE, else the user's cache."""
    given = os.environ.get("HEADWAY_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(given) if given else Path(base).expanduser() / "headway"


def beside(path: Path) -> Path:
    """Return where this process keeps what is not yet, or no longer, to be found as ``path``."""
    return path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, a file or a directory, which becomes ``path`` if all went well.

    It gets the name once all of it is on disk, in place of a file or an empty directory that had
    the name. If anything fails, what was written is deleted.
    """
    temporary = beside(path)
    remove(temporary)
    try:
        yield temporary
        for part in (*temporary.rglob("*"), temporary):
            sync(part)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):  # what went wrong first is what to know
            remove(temporary)
        raise
    sync(path.parent)


def replace_bytes(path: Path, content: bytes) -> None:
    """Put a file in place of another, or of none.

    Raises:
        OSError: Naming ``path``; what was there is still there.
    """
    with naming(path), replacing(path) as temporary:
        temporary.write_bytes(content)


def replace_text(path: Path, text: str) -> None:
    """Do what `replace_bytes` does, in UTF-8."""
    replace_bytes(path, text.encode())


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let a system's error be about ``path``: a full disk does not say which file it is about."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def sync(path: Path) -> None:
    """Wait until a file or a directory is on disk: its content, or the names in it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Delete a file, a directory with all that is in it, or a link, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Delete what processes left in a directory that were killed while they wrote there."""
    for leftover in folder.glob(f"{TEMPORARY}*"):
        remove(leftover)
