"""Encodings of text other than UTF-8: their names, the usual one of a language, and the conversion to UTF-8."""

import codecs
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from headway.errors import UsageError
from headway.text.languages import ENCODINGS, base_code

CHUNK = 1 << 16  # bytes converted at once


def check_encoding(name: str) -> None:
    """Check that Python knows an encoding of text.

    Raises:
        HeadwayError: If it does not.
    """
    try:
        "".encode(name)
        codecs.getincrementaldecoder(name)("replace").decode(b"a", final=True)
    except (LookupError, UnicodeError, ValueError):
        raise UsageError(
            f"--encoding {name}: not an encoding of text; examples: cp1252, iso-8859-2, utf-16"
        ) from None


def likely_encoding(languages: Sequence[str]) -> str:
    """Return the encoding that text of these languages probably has if it is not UTF-8."""
    return next(
        (ENCODINGS[code] for code in map(base_code, languages) if code in ENCODINGS), "cp1252"
    )


def extends_ascii(encoding: str) -> bool:
    """Return whether line ends and marks are bytes of ASCII in an encoding, and no ASCII begins an escape.

    In iso-2022-jp, hz and utf-7, escapes make other characters of ASCII, so that all text is valid UTF-8.
    """
    new = codecs.getincrementaldecoder(encoding)
    if not all(new("replace").decode(bytes([byte])) for byte in range(128)):  # one begins something
        return False
    return "\n\t\"',;".encode(encoding) == b"\n\t\"',;"


def convert_to_utf8(start: bytes, file: BinaryIO, encoding: str) -> Iterator[bytes]:
    """Yield the text of a file in UTF-8; bytes that are no characters become U+FFFD.

    Args:
        start: The bytes that were read from the file already.
        file: The rest.
        encoding: The file's encoding.

    Raises:
        OSError: If it is not in this encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    chunk = start
    try:
        while chunk:
            yield decoder.decode(chunk).encode("utf-8", "replace")
            chunk = file.read(CHUNK)
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")
    except UnicodeError as error:
        raise OSError(f"is not in {encoding}: {error}") from None
