"""The directory of a recipe while one process works there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import remove_leftovers
from headway.locks import DirectoryLock


@contextmanager
def open_directory(out: Path) -> Iterator[None]:
    """Make a directory, and be the one process that works there inside the block.

    Raises:
        HeadwayError: If another process works there, or nothing can be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadwayError(
            f"{out}: cannot be written ({error.strerror}): give another OUT"
        ) from None
    with DirectoryLock(out):
        for folder in (out, *(out / name for name in ("text", "scores", "stages", "student"))):
            remove_leftovers(folder)
        yield
