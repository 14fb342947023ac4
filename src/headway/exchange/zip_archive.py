"""The list of entries of a zip archive, whose size is checked before Python reads it."""

import zipfile
from pathlib import Path

from headway.errors import HeadwayError

MAX_LIST_BYTES = 1 << 20  # an entry of 50 bytes takes ten times as much once it is read
SIZE = 5  # the field of the end record, or of its 64-bit form


def check_list_of_entries(file: Path) -> None:
    """Check the size of an archive's list of entries.

    Raises:
        HeadwayError: If no package of a model has so many entries.
    """
    with file.open("rb") as opened:
        # zipfile offers no public way to find the record that it will read, and another way to find one
        # could be led to another record.
        end = zipfile._EndRecData(opened)  # type: ignore[attr-defined]
    if end is not None and end[SIZE] > MAX_LIST_BYTES:
        raise HeadwayError(f"{file}: its list of entries has more than {MAX_LIST_BYTES:,} bytes")
