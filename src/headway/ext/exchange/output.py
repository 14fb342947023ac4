"""Creating an export or an import: complete and under its name, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        out: A path that does not exist yet; its parent directories are made, and removed if something fails.

    Raises:
        HeadwayError: If ``out`` exists.
        OSError: If it cannot be written; the error names ``out``.
    """
    check_absent(out)
    missing = [folder for folder in out.parents if not folder.exists()]  # the innermost first
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(out) as temporary:
            yield temporary
    except BaseException:
        with suppress(OSError):  # others may have put something there
            for folder in missing:
                folder.rmdir()
        raise


def add_files(directory: Path, files: dict[str, str]) -> None:
    """Write text files, by name, into a directory."""
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
