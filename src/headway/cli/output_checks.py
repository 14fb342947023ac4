"""Checks of files that a command is to write, before hours are spent."""

import os
from collections.abc import Mapping
from pathlib import Path

from headway.errors import UsageError


def check_output(option: str, out: Path, inputs: Mapping[str, str] | None = None) -> None:
    """Check that a file can be written in one piece, is not write-protected, and is none of those that are read.

    Args:
        option: The option that names the file, such as ``--output``.
        out: The file.
        inputs: The files that are read, by their options.

    Raises:
        UsageError: If not.
    """
    if out.exists() and not out.is_file():
        raise UsageError(f"{option} {out}: is a directory, a device or a pipe: give a file")
    if not out.parent.is_dir():
        raise UsageError(f"{option} {out}: {out.parent} is no directory: make it first")
    if out.is_symlink():
        raise UsageError(
            f"{option} {out}: is a link: give the file that it leads to, {out.resolve()}"
        )
    # The mode counts, too: to replace a file, only its folder must allow it, and to root everything does.
    if out.is_file() and not (out.stat().st_mode & 0o222 and os.access(out, os.W_OK)):
        raise UsageError(
            f"{option} {out}: is write-protected: give another name, or allow writing (chmod u+w)"
        )
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {out}: no file can be written in {out.parent.resolve()}")
    for other, name in (inputs or {}).items():
        if out.exists() and Path(name).exists() and out.samefile(name):
            raise UsageError(f"{option} {out}: must be another file than {other}")
