"""Encodings of text other than UTF-8: by a mark in the file, by name, or by the usual one of a language."""

import codecs
import io
from collections.abc import Iterator, Sequence
from encodings.aliases import aliases
from typing import TYPE_CHECKING, BinaryIO

from headway.errors import HeadwayError, suggest

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 16  # bytes converted at once
REPLACEMENT = "\ufffd"  # stands for bytes that are no character of the encoding
MARKS = (  # of UTF-32 before UTF-16, whose mark is the beginning of UTF-32's
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip

# The encoding of older Windows programs for each language; cp1252 for all others.
WINDOWS = {
    "cp1250": ("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"),
    "cp1251": ("be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"),
    "cp1253": ("el",),
    "cp1254": ("az", "tr"),
    "cp1255": ("he", "yi"),
    "cp1256": ("ar", "fa", "ps", "ur"),
    "cp1257": ("et", "lt", "lv"),
    "cp1258": ("vi",),
    "cp874": ("th",),
    "cp932": ("ja",),
    "cp949": ("ko",),
    "gb18030": ("zh",),
}


def check_encoding(name: str) -> None:
    """Check that Python knows an encoding of text.

    Raises:
        HeadwayError: If it does not; the message suggests the closest name.
    """
    try:
        "".encode(name)
        codecs.getincrementaldecoder(name)("replace").decode(b"a", final=True)
    except (LookupError, UnicodeError, ValueError):
        known = [
            alias.replace("_", "-") for alias in (*aliases, *aliases.values()) if alias != name
        ]
        raise HeadwayError(
            f"--encoding {name}: not an encoding of text{suggest(name, known)}; examples: cp1252,"
            " iso-8859-2, utf-16"
        ) from None


def likely_encoding(languages: Sequence[str]) -> str:
    """Return the encoding that text of these languages probably has if it is not UTF-8."""
    codes = {code.lower().replace("_", "-").partition("-")[0] for code in languages}
    return next((name for name, known in WINDOWS.items() if codes & set(known)), "cp1252")


def recognize_wide(start: bytes) -> str | None:
    """Return "utf-16" or "utf-32", which has zero bytes, if a file begins so; otherwise None."""
    for mark, name in MARKS:
        if start.startswith(mark):
            return name
    # Without a mark, ASCII characters show UTF-16: every other byte is zero.
    head = start[:8]
    for first, name in ((0, "utf-16-le"), (1, "utf-16-be")):
        if len(head) >= 4 and all(head[first::2]) and not any(head[1 - first :: 2]):
            return name
    return None


def extends_ascii(encoding: str) -> bool:
    """Return whether line ends and marks are bytes of ASCII in an encoding, and no ASCII begins an escape.

    In iso-2022-jp, hz and utf-7, escapes make other characters of ASCII, so that all text is valid UTF-8.
    """
    new = codecs.getincrementaldecoder(encoding)
    if not all(new("replace").decode(bytes([byte])) for byte in range(128)):  # one begins something
        return False
    return "\n\t\"',;".encode(encoding) == b"\n\t\"',;"


def convert_to_utf8(start: bytes, file: BinaryIO, encoding: str) -> BinaryIO:
    """Return a file with the same text in UTF-8; bytes that are no characters become U+FFFD.

    Args:
        start: The bytes that were read from the file already.
        file: The rest.
        encoding: The file's encoding.
    """
    return open_chunks(_convert(start, file, encoding))


def _convert(start: bytes, file: BinaryIO, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    chunk = start
    try:
        while chunk:
            yield decoder.decode(chunk).encode("utf-8", "replace")
            chunk = file.read(CHUNK)
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")
    except UnicodeError as error:
        raise OSError(f"is not in {encoding}: {error}") from None


def open_chunks(chunks: Iterator[bytes]) -> BinaryIO:
    """Return a file object that reads chunks of bytes one after the other."""
    return io.BufferedReader(_Stream(chunks), 1 << 16)


class _Stream(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        target = memoryview(buffer)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
