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
    try:
        if file.stat().st_size > most_bytes:
            raise ValueError(f"larger than {most_bytes} bytes")
        values = json.loads(file.read_bytes())
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: damaged: {str(error).splitlines()[0]}") from None
    check_format(file, values, newest, oldest=oldest, instead=instead)
    return dict(values)


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
        instead = instead if found < oldest else ""
        writer = _find_writer(values, is_newer=found > newest)
        of = f" of Headway {writer}" if writer else ""
        raise OtherVersionError(
            f"{file}: format {found}{of}, but this is Headway {__version__}, which reads {readable}:"
            f" {_name_remedy(writer, instead)}"
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
    """
    try:
        yield
    except (ValueError, LookupError, TypeError):
        newer, older = (_find_writer(values, is_newer=is_newer) for is_newer in (True, False))
        if not newer and not (older and instead):
            raise
        raise OtherVersionError(
            f"{file}: has content of Headway {newer or older} that this Headway {__version__} does not read:"
            f" {_name_remedy(newer or older, instead if older else '')}"
        ) from None


def _find_writer(values: Mapping[str, object], *, is_newer: bool) -> str:
    """Return the version that wrote a file; empty if the file names none that is newer, or of an older second number."""
    writer = values.get("headway")
    if not isinstance(writer, str) or not VERSION.fullmatch(writer):
        return ""
    found, own = _numbers(writer), _numbers(__version__)
    return writer if (found > own if is_newer else found[:2] < own[:2]) else ""


def _name_remedy(writer: str, instead: str) -> str:
    """Return what to do with a file of an older version, or of a newer one, for which there is nothing ``instead``."""
    if instead:
        return f"{instead}, or install {f'Headway {writer}' if writer else 'the older Headway that wrote it'}"
    return f"install {f'Headway {writer} or newer' if writer else 'a newer Headway'}"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]
