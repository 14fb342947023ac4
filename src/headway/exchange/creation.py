"""Where an export or an import appears: whole and under its name, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import replacing


@contextmanager
def create_atomically(out: Path) -> Iterator[Path]:
    """Give a path to write to, a file or a directory, which becomes ``out`` if all went well.

    Args:
        out: Must not be there; the directories above it are made.

    Raises:
        HeadwayError: If something of that name is there.
    """
    if out.exists() or out.is_symlink():
        raise HeadwayError(f"{out}: is there already: remove it, or give another name")
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as temporary:
        yield temporary
