"""Where an export or an import appears: whole and under its name, or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Give a path to write to, a file or a directory, which becomes ``out`` if all went well.

    Args:
        out: Must not be there; the directories above it are made.

    Raises:
        HeadwayError: If something of that name is there.
    """
    if out.exists() or out.is_symlink():
        raise HeadwayError(f"{out}: is there already: remove it, or give another name")
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    remove(temporary)
    try:
        yield temporary
        _to_disk(temporary)
        temporary.rename(out)
    finally:
        remove(temporary)


def remove(path: Path) -> None:
    """Remove a file or a directory, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
