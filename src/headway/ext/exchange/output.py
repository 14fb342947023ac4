"""Creating an export or an import: complete and under its name, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import write_atomically


def check_absent(out: Path) -> None:
    """Check that an export or import can get this name.

    Raises:
        HeadwayError: If ``out`` exists.
    """
    if out.exists() or out.is_symlink():
        raise HeadwayError(f"{out}: exists already: give another name, or remove it")


@contextmanager
def create_atomically(out: Path) -> Iterator[Path]:
    """Yield a temporary path, of a file or a directory, that becomes ``out`` if nothing fails.

    Args:
        out: A path that does not exist yet; its parent directories are made.

    Raises:
        HeadwayError: If ``out`` exists.
        OSError: If it cannot be written; the error names ``out``.
    """
    check_absent(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(out) as temporary:
        yield temporary
