"""Write files and directories atomically: a reader finds all of a file, or the file before it.

An unfinished file lies in the same directory, under a name that starts with ``.tmp-`` and names the
machine and the process. A process that is killed leaves it there. The next process of the same machine that
writes the same file deletes it, and `remove_leftovers` deletes all of a directory.

A file that Headway reads again has a format: a whole number, which says whether this Headway reads the file.
docs/stability.md says what raises the number.
"""

import hashlib
import json
import os
import re
import shutil
import socket
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from headway import __version__
from headway.errors import HeadwayError

TEMPORARY = ".tmp-"


def cache_directory() -> Path:
    """Return the cache directory: $HEADWAY_CACHE, or a directory in the user's cache."""
    given = os.environ.get("HEADWAY_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(given) if given else Path(base).expanduser() / "headway"


def temporary_path(path: Path) -> Path:
    """Return a path in the same directory, for a file that is unfinished or about to be deleted."""
    return path.with_name(f"{TEMPORARY}{name_machine()}.{os.getpid()}-{path.name}")


@cache
def name_machine() -> str:
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
        OSError: With the name ``path``, if the error of the body names no file, as of a full disk, or the unfinished one.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise HeadwayError(f"{path}: is no file but a device or a pipe: give the name of a file")
    temporary = temporary_path(path)
    _remove_abandoned(path)
    with add_path_to_errors(path):
        try:
            yield temporary
            for part in (*temporary.rglob("*"), temporary):
                sync(part)
            temporary.replace(path)
            sync(path.parent)
        except BaseException:
            with suppress(OSError):  # the first exception is the one to report
                remove(temporary)
            raise


@contextmanager
def add_path_to_errors(path: Path) -> Iterator[None]:
    """Name ``path`` in an `OSError` of the body that names no file, as of a full disk, or an unfinished one."""
    try:
        yield
    except OSError as error:
        if TEMPORARY not in str(error.filename or TEMPORARY):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; an older file of that name is replaced, or stays if that fails."""
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)


def replace_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 atomically; see `replace_bytes`."""
    replace_bytes(path, text.encode())


def sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a directory, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_is_file(path: Path, way_out: str = "") -> None:
    """Check that a path leads to a regular file, before it is opened: a pipe would be waited for.

    Args:
        path: The file.
        way_out: What the user can do, for the message.

    Raises:
        HeadwayError: If it does not.
    """
    if not path.is_file():
        raise HeadwayError(f"{path}: not a file{way_out and f': {way_out}'}")


def hash_file(path: Path) -> str:
    """Return the sha256 of a file."""
    with add_path_to_errors(path), path.open("rb") as file:
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
        is_here = machine in ("", name_machine())
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


VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}[\w.+-]{0,20}")


class OtherVersionError(HeadwayError):
    """Another Headway wrote the file, and this one does not read it. It is not damaged: nothing may repair or rename it."""


def read_small_file(
    file: Path, newest: int, most_bytes: int, *, oldest: int = 1, instead: str = ""
) -> dict[str, Any]:
    """Return the content of a JSON file with ``format``; see `check_format`.

    Args:
        file: The file.
        newest: The newest format of such files that this Headway reads.
        most_bytes: A larger file is damaged.
        oldest: The oldest format.
        instead: What the user can do with a file of an older format.

    Raises:
        OtherVersionError: If the format is newer.
        HeadwayError: If the file cannot be read, or is damaged.
    """
    values = read_json(file, most_bytes)
    check_format(file, values, newest, oldest=oldest, instead=instead)
    return dict(values)


def read_json(file: Path, most_bytes: int) -> Any:
    """Return the content of a JSON file.

    Raises:
        HeadwayError: If the file cannot be read, is larger, or is not JSON.
    """
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe would be waited for
            raise ValueError("not a file")
        if found.st_size > most_bytes:
            raise ValueError(f"larger than {most_bytes} bytes")
        values = json.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: damaged: {str(error).splitlines()[0]}") from None
    return values


def check_format(
    file: Path, values: object, newest: int, *, oldest: int = 1, instead: str = ""
) -> None:
    """Check that this Headway reads the format of a file.

    Args:
        file: For the message.
        values: The content of the file: an object with ``format``, and ``headway``, the version that wrote
            it, if the file names it.
        newest: The newest format of such files that this Headway reads.
        oldest: The oldest one.
        instead: What the user can do with a file of an older format.

    Raises:
        OtherVersionError: If the format is newer or older.
        HeadwayError: If there is no such format, or the content is no object.
    """
    if not isinstance(values, Mapping):
        raise HeadwayError(f"{file}: damaged: not an object")
    found = values.get("format")
    readable = f"format {newest}" if newest == oldest else f"formats {oldest} to {newest}"
    if type(found) is not int or found < 1:
        raise HeadwayError(f"{file}: damaged: format {found!r:.40}, but Headway reads {readable}")
    if not oldest <= found <= newest:
        writer = _read_writer(values)
        of = f" of Headway {writer}" if writer else ""
        raise OtherVersionError(
            f"{file}: format {found}{of}, but this is Headway {__version__}, which reads {readable}:"
            f" {_name_remedy(writer, instead if found < oldest else '')}"
        )


@contextmanager
def check_writer(file: Path, values: Mapping[str, object], instead: str = "") -> Iterator[None]:
    """Check that no other Headway wrote a file, if the body does not understand its content.

    Args:
        file: For the message.
        values: The content of the file, which may have ``headway``, the version that wrote it.
        instead: What the user can do with a file of an older second number (0.1 for 0.2); empty: this Headway reads such
            files, so that one is damaged.

    Raises:
        OtherVersionError: If another one did, in the place of the error of the body.
        HeadwayError: In the place of any other error that damaged content gives.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        writer = _read_writer(values)
        found, own = _numbers(writer), _numbers(__version__)
        is_older = found[:2] < own[:2]
        if not writer or not (found > own or (is_older and instead)):
            if isinstance(error, HeadwayError):
                raise
            raise HeadwayError(f"{file}: damaged: {error}") from None
        raise OtherVersionError(
            f"{file}: has content of Headway {writer} that this Headway {__version__} does not read:"
            f" {_name_remedy(writer, instead if is_older else '')}"
        ) from None


def _read_writer(values: Mapping[str, object]) -> str:
    """Return the version that wrote a file; empty if the file names none."""
    writer = values.get("headway")
    return writer if isinstance(writer, str) and VERSION.fullmatch(writer) else ""


def _name_remedy(writer: str, instead: str) -> str:
    """Return what to do with a file of an older version, or of a newer one, for which there is nothing ``instead``."""
    if instead:
        return f"{instead}, or install {f'Headway {writer}' if writer else 'the older Headway that wrote it'}"
    return f"install {f'Headway {writer} or newer' if writer else 'a newer Headway'}"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
