"""The lines of a text file, compressed or not, read in constant memory.

Only ``\\n`` ends a line. `str.splitlines` also splits at U+2028, U+0085, vertical tabs and form feeds.
These occur inside real sentences, and splitting there would shift one side of a corpus against the
other.
"""

import codecs
import re
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from io import BufferedReader

STANDARD_INPUT = "-"
LONGEST = 1_000_000  # bytes of a line; a longer line means that the file is not text
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: JSON can express it, UTF-8 cannot
REPLACEMENT = "\ufffd"  # stands for bytes that are no character of the encoding
# Suffix of a compressed file -> its first bytes.
COMPRESSIONS = {".gz": rb"\x1f\x8b", ".xz": rb"\xfd7zXZ", ".zst": rb"\x28\xb5\x2f\xfd"}
# How files begin that are not plain text -> what they are, and how to make text of them.
BEGINNINGS = {
    rb"PK\x03\x04|\xd0\xcf\x11\xe0": "an office file or an archive: save it as plain text or as CSV, in UTF-8; to translate it whole, give its name its suffix, such as .docx",
    rb"%PDF-|\{\\rtf": "a document in PDF or RTF: save it as plain text in UTF-8",
    rb"\x89PNG|\xff\xd8\xff|GIF8": "an image, and not text",
    rb"\x7fELF|SQLite format 3\0": "a program or a database, and not text",
    b"|".join([*COMPRESSIONS.values(), b"BZh"]): "compressed: decompress it first",
    rb"(\xef\xbb\xbf)?\s*(?i:<!doctype html|<html[\s>])": "an HTML page: its plain text is needed",
    rb"(\xef\xbb\xbf)?\s*<\?xml\s": "an XML document: its plain text is needed",
    rb"(\xef\xbb\xbf)?\s*(WEBVTT\s|1\s+\d+:\d\d:\d\d[,.]\d+ -->)": "subtitles: their plain text is needed",
}
MARKS = {  # of UTF-32 before UTF-16, whose mark is the beginning of UTF-32's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Damaged(NamedTuple):
    """A line that cannot be read.

    Args:
        file: The file.
        line: The number of the line in the file, from 1.
        reason: What is wrong with the line.
        is_foreign: Whether it is text in another encoding than the file should have.
        is_elsewhere: Whether it is text of other languages than the wanted ones.
    """

    file: str
    line: int
    reason: str
    is_foreign: bool = False
    is_elsewhere: bool = False

    def error(self) -> HeadwayError:
        """Return an error that names the file, the line and the reason."""
        return HeadwayError(f"{self.file}:{self.line}: {self.reason}")


def read_lines(path: str | Path) -> Iterator[str]:
    """Read a text file line by line, without the line ends (``\\n`` or ``\\r\\n``).

    Args:
        path: A file in UTF-8, plain or compressed (.gz, .xz, .zst); ``-``: standard input, plain.

    Raises:
        HeadwayError: If the file or a line cannot be read; it names both.
    """
    for line in scan_lines(path):
        if isinstance(line, Damaged):
            advice = ": save the file as UTF-8" if line.is_foreign else ""
            raise HeadwayError(f"{line.error()}{advice}")
        yield line


def scan_lines(path: str | Path, encoding: str | None = None) -> Generator[str | Damaged]:
    """Read like `read_lines`, but yield a `Damaged` for a line that cannot be read, and continue.

    Args:
        path: A file as for `read_lines`. UTF-16 and UTF-32 are recognized.
        encoding: The encoding of lines that are not UTF-8, such as "cp1252".

    Raises:
        HeadwayError: If the file cannot be opened, is not text, or cannot be read to its end.
    """
    number = 0
    with open_bytes(path) as file:
        try:
            head = [beginning := file.readline(LONGEST + 1)]
            # Subtitles are known by their second line.
            if what := name_by_content(beginning + cast("BufferedReader", file).peek()):
                raise HeadwayError(f"{path}: {what}")
            wide = recognize_wide(beginning)
            if encoding and not wide:
                from headway.text.encodings import extends_ascii

                wide = None if extends_ascii(encoding) else encoding
            if wide:
                from headway.text.compression import open_chunks
                from headway.text.encodings import convert_to_utf8

                file, encoding = open_chunks(convert_to_utf8(beginning, file, wide)), None
                head = []
            for raw in chain(head, iter(partial(file.readline, LONGEST + 1), b"")):
                if not raw:  # an empty file
                    return
                number += 1
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                if len(raw) > LONGEST:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST)
                    yield Damaged(str(path), number, f"longer than {LONGEST} bytes")
                    continue
                text = _decode(raw, encoding)
                if isinstance(text, UnicodeDecodeError):
                    where = f"byte 0x{raw[text.start]:02x} at position {text.start + 1}"
                    names = f"UTF-8 or {encoding}" if encoding else "UTF-8"
                    yield Damaged(str(path), number, f"not {names}: {where}", is_foreign=True)
                elif wide and REPLACEMENT in text:
                    yield Damaged(str(path), number, f"not {wide}: a character is damaged", True)
                else:
                    yield text.removesuffix("\n").removesuffix("\r")
        except OSError as problem:
            raise HeadwayError(f"{path}:{number + 1}: {problem.strerror or problem}") from None


def _decode(raw: bytes, encoding: str | None) -> str | UnicodeDecodeError:
    """Decode UTF-8, or otherwise the given encoding; return the error if neither is right."""
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        if encoding is None:
            return problem
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as problem:
        return problem


@contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to read its bytes; a compressed file is decompressed.

    The first bytes or the suffix tell whether a file is compressed. Reading raises `OSError` if the
    compressed data is damaged, cut off or followed by other data.

    Args:
        path: The file; ``-``: standard input, which is not decompressed.

    Raises:
        HeadwayError: If it cannot be opened.
    """
    if str(path) == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
            start = file.peek(6)
        except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
            raise HeadwayError(f"{path}: {getattr(problem, 'strerror', problem)}") from None
        for suffix, magic in COMPRESSIONS.items():
            if re.match(magic, start) or str(path).endswith(suffix):
                from headway.text.compression import decompress, open_chunks

                yield open_chunks(decompress(file, suffix))
                return
        yield file


def check_read_once(paths: Iterable[str | Path | None]) -> None:
    """Check that at most one of the files of a command is standard input.

    Raises:
        UsageError: If several are.
    """
    if [str(path) for path in paths].count(STANDARD_INPUT) > 1:
        raise UsageError("-: standard input can be read only once: give a file for the other text")


def plain_suffix(path: str | Path) -> str:
    """Return the suffix of a file as if it were not compressed: ``.csv`` for ``a.csv.gz``; empty: it has none."""
    suffixes = [part for part in Path(path).suffixes if part.lower() not in COMPRESSIONS]
    return suffixes[-1] if suffixes else ""


def name_by_content(start: bytes) -> str | None:
    """Return what a file is and how to make text of it, by its first bytes; None: it may be plain text."""
    return next(
        (what for beginning, what in BEGINNINGS.items() if re.match(beginning, start)), None
    )


def recognize_wide(start: bytes) -> str | None:
    """Return "utf-16" or "utf-32", which has zero bytes, if a file begins so; otherwise None."""
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return name
    # Without a mark, ASCII characters show UTF-16: every other byte is zero.
    head = start[:8]
    for first, name in ((0, "utf-16-le"), (1, "utf-16-be")):
        if len(head) >= 4 and all(head[first::2]) and not any(head[1 - first :: 2]):
            return name
    return None
