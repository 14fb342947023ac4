"""The list of entries of a zip archive, whose size is checked before Python reads it."""

import contextlib
import io
import zipfile
from pathlib import Path

from headway.errors import HeadwayError

MAX_LIST_BYTES = 1 << 20  # an entry of 50 bytes takes ten times as much once it is read
MAX_END_BYTES = 1 << 17  # the record at the end, with its comment and its 64-bit form


class _BoundedFile(io.FileIO):
    """A file that ends, for its reader, once more than ``left`` bytes are asked of it."""

    left = MAX_LIST_BYTES + MAX_END_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as a file does, or nothing from the bound on."""
        if size is None or size < 0:
            size = self.left + 1
        elif size > self.left:  # Python reserves memory for it, whatever the file has
            self.left = -1
        content = super().read(size) if self.left >= 0 else b""
        self.left -= len(content or b"")
        return (content or b"") if self.left >= 0 else b""


def check_list_of_entries(file: Path) -> None:
    """Check the size of an archive's list of entries.

    `zipfile` itself looks for the list, because a parser of our own might find another list than `zipfile` does.

    Raises:
        HeadwayError: If no package of a model has so many entries.
    """
    with _BoundedFile(file) as opened:
        # Who opens a damaged archive reports it.
        with contextlib.suppress(zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
            zipfile.ZipFile(opened).close()
        if opened.left < 0:
            raise HeadwayError(
                f"{file}: its list of entries has more than {MAX_LIST_BYTES:,} bytes"
            )
