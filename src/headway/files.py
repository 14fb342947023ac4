"""Write files and directories atomically: a reader finds all of a file, or the file before it.

An unfinished file lies in the same directory, under a name that starts with ``.tmp-`` and names the
machine and the process. A process that is killed leaves it there. The next process of the same machine that
writes the same file deletes it, and `remove_leftovers` deletes all of a directory.
"""

import hashlib
import os
import re
import shutil
import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from headway.errors import HeadwayError

TEMPORARY = ".tmp-"


def cache_directory() -> Path:
    """Return the cache directory: $HEADWAY_CACHE, or a directory in the user's cache."""
    given = os.environ.get("HEADWAY_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(given) if given else Path(base).expanduser() / "headway"


def temporary_path(path: Path) -> Path:
    """Return a path in the same directory, for a file that is unfinished or about to be deleted."""
    return path.with_name(f"{TEMPORARY}{_name_machine()}.{os.getpid()}-{path.name}")


@cache
def _name_machine() -> str:
    """Return eight characters that differ between machines, and between containers whose processes have equal numbers."""
    facts = socket.gethostname()
    with suppress(OSError):  # not Linux
        facts += f" {Path('/proc/self/ns/pid').stat().st_ino}"
        facts += Path("/proc/sys/kernel/random/boot_id").read_text("utf-8")
    return f"{zlib.crc32(facts.encode()):08x}"


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a path to write a file or directory to, and rename it to ``path`` once it is on disk.

    A file, or an empty directory, of that name is replaced. If the body raises an exception, the
    unfinished file is deleted.

    Raises:
        HeadwayError: If there is a device or a pipe of that name, which would be lost.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise HeadwayError(f"{path}: is no file but a device or a pipe: give the name of a file")
    temporary = temporary_path(path)
    _remove_abandoned(path)
    try:
        yield temporary
        for part in (*temporary.rglob("*"), temporary):
            sync(part)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):  # the first exception is the one to report
            remove(temporary)
        raise
    sync(path.parent)


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; an older file of that name is replaced.

    Raises:
        OSError: With the name ``path``; the older file is unchanged.
    """
    with add_path_to_errors(path), write_atomically(path) as temporary:
        temporary.write_bytes(content)


def replace_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 atomically; see `replace_bytes`."""
    replace_bytes(path, text.encode())


@contextmanager
def add_path_to_errors(path: Path) -> Iterator[None]:
    """Name ``path`` in an `OSError` of the body that names no file, as of a full disk, or an unfinished one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and TEMPORARY not in str(error.filename):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a directory, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def hash_file(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove(path: Path) -> None:
    """Delete a file, a link, or a directory with its content, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Delete the unfinished files of processes that were killed while they wrote here."""
    for leftover, _, _ in _list_leftovers(folder):
        remove(leftover)


def _remove_abandoned(path: Path) -> None:
    """Delete the unfinished ``path`` of this process, and of processes of this machine that have ended."""
    for leftover, owner, name in _list_leftovers(path.parent):
        machine, _, process = owner.rpartition(".")
        # Names of version 0.2 have no machine. It is not known whether a process of another machine runs.
        is_here = machine in ("", _name_machine())
        if name == path.name and is_here and not _is_other_process(int(process)):
            remove(leftover)


def _list_leftovers(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the unfinished files of a directory, with ``machine.process`` and the names that they were to get."""
    for path in folder.glob(f"{TEMPORARY}*"):
        owner, _, name = path.name.removeprefix(TEMPORARY).partition("-")
        if name and re.fullmatch(r"([0-9a-f]{8}\.)?\d+", owner):  # not a file of somebody else
            yield path, owner, name


def _is_other_process(process: int) -> bool:
    """Return whether a process runs that is not this one."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True
