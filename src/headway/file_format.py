"""The format of a file that Headway wrote: a whole number, which says whether this Headway reads the file.

docs/stability.md says what raises the number.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway import __version__
from headway.errors import HeadwayError

VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}[\w.+-]{0,20}")


class NewerFileError(HeadwayError):
    """A newer Headway wrote the file. The file is not damaged, and nothing may repair or rename it."""


def read_small_file(file: Path, newest: int, most_bytes: int) -> dict[str, Any]:
    """Return the content of a JSON file with ``format``; see `check_format`.

    Args:
        file: The file.
        newest: The newest format of such files that this Headway reads.
        most_bytes: A larger file is damaged.

    Raises:
        NewerFileError: If the format is newer.
        HeadwayError: If the file cannot be read, or is damaged.
    """
    try:
        if file.stat().st_size > most_bytes:
            raise ValueError(f"larger than {most_bytes} bytes")
        values = json.loads(file.read_bytes())
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: damaged: {str(error).splitlines()[0]}") from None
    check_format(file, values, newest)
    return dict(values)


def check_format(file: Path, values: object, newest: int) -> None:
    """Check that this Headway reads the format of a file; it reads all formats from 1 on.

    Args:
        file: For the message.
        values: The content of the file: an object with ``format``, and ``headway``, the version that wrote
            it, if the file names it.
        newest: The newest format of such files that this Headway reads.

    Raises:
        NewerFileError: If the format is newer.
        HeadwayError: If there is no such format, or the content is no object.
    """
    if not isinstance(values, Mapping):
        raise HeadwayError(f"{file}: damaged: not an object")
    found = values.get("format")
    readable = "format 1" if newest == 1 else f"formats 1 to {newest}"
    if type(found) is not int or found < 1:
        raise HeadwayError(f"{file}: damaged: format {found!r:.40}, but Headway has {readable}")
    if found > newest:
        writer = _find_newer_writer(values)
        of = f" of Headway {writer}" if writer else ""
        raise NewerFileError(
            f"{file}: format {found}{of}, but this is Headway {__version__}, which reads {readable}:"
            f" install {_name_remedy(writer)}"
        )


@contextmanager
def check_writer(file: Path, values: Mapping[str, object]) -> Iterator[None]:
    """Check that no newer Headway wrote a file, if the body does not understand its content.

    Args:
        file: For the message.
        values: The content of the file, which may have ``headway``, the version that wrote it.

    Raises:
        NewerFileError: If a newer one did, in the place of the error of the body.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError):
        writer = _find_newer_writer(values)
        if not writer:
            raise
        raise NewerFileError(
            f"{file}: has values of Headway {writer} that this Headway {__version__} does not know: install"
            f" {_name_remedy(writer)}"
        ) from None


def _find_newer_writer(values: Mapping[str, object]) -> str:
    """Return the version that wrote a file; empty if the file names none, or one that is not newer."""
    writer = values.get("headway")
    if not isinstance(writer, str) or not VERSION.fullmatch(writer):
        return ""
    return writer if _numbers(writer) > _numbers(__version__) else ""


def _name_remedy(writer: str) -> str:
    return f"Headway {writer} or newer" if writer else "a newer Headway"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
