"""The lines of a text file, compressed or not, read in constant memory.

Only ``\\n`` ends a line. `str.splitlines` also splits at U+2028, U+0085, vertical tabs and form feeds.
These occur inside real sentences, and splitting there would shift one side of a corpus against the
other.
"""

import lzma
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, cast

import zstandard

from headway.errors import HeadwayError, UsageError
from headway.text.encodings import (
    REPLACEMENT,
    convert_to_utf8,
    extends_ascii,
    open_chunks,
    recognize_wide,
)
from headway.text.file_kinds import name_by_content, name_by_suffix

if TYPE_CHECKING:
    from io import BufferedReader

STANDARD_INPUT = "-"
LONGEST = 1_000_000  # bytes of a line; a longer line means that the file is not text
PACKED = 2048  # bytes decompressed at once: zstd makes at most 64 MB of them
# Text packs to a third or a tenth of its size, rarely to a thirtieth. A file that unpacks to more than
# FREELY bytes and to EXPANSION times its size is a bomb, which would be read for hours.
FREELY, EXPANSION = 100_000_000, 200
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: JSON can express it, UTF-8 cannot


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


def read_lines(path: str | Path, start: int = 0) -> Iterator[str]:
    """Read a text file line by line, without the line ends (``\\n`` or ``\\r\\n``).

    Args:
        path: A file in UTF-8, plain or compressed (.gz, .xz, .zst); ``-``: standard input, plain.
        start: Lines to skip, which are not checked and take a twentieth of the time.

    Raises:
        HeadwayError: If the file or a line cannot be read; it names both.
    """
    for line in scan_lines(path, start=start):
        if isinstance(line, Damaged):
            advice = ": save the file as UTF-8" if line.is_foreign else ""
            raise HeadwayError(f"{line.error()}{advice}")
        yield line


def scan_lines(
    path: str | Path, encoding: str | None = None, start: int = 0
) -> Generator[str | Damaged]:
    """Read like `read_lines`, but yield a `Damaged` for a line that cannot be read, and continue.

    Args:
        path: A file as for `read_lines`. UTF-16 and UTF-32 are recognized.
        encoding: The encoding of lines that are not UTF-8, such as "cp1252".
        start: Lines to skip.

    Raises:
        HeadwayError: If the file cannot be opened, is not text, or cannot be read to its end.
    """
    number = start
    with open_bytes(path) as file:
        try:
            head = [beginning := file.readline(LONGEST + 1)]
            # Subtitles are known by their second line, and the bytes of an archive may contain line breaks.
            if what := name_by_content(beginning + cast("BufferedReader", file).peek()):
                raise HeadwayError(f"{path}: {name_by_suffix(str(path)) or what}")
            wide = recognize_wide(beginning)
            if encoding and not extends_ascii(encoding):
                wide = wide or encoding
            if wide:
                file, encoding, head = convert_to_utf8(beginning, file, wide), None, []
            _skip_lines(file, start - sum(line.endswith(b"\n") for line in head))
            for raw in chain(head[start:], iter(partial(file.readline, LONGEST + 1), b"")):
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


def _skip_lines(file: BinaryIO, count: int) -> None:
    """Read ``count`` lines of a file as blocks, which is faster than to read each."""
    buffered = cast("BufferedReader", file)
    while count > 0 and (block := buffered.peek()):
        if (found := block.count(b"\n")) < count:
            file.read(len(block))
            count -= found
        else:
            position = -1
            for _ in range(count):
                position = block.index(b"\n", position + 1)
            file.read(position + 1)
            return


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
        for suffix, magic, decoder in _FORMATS:
            if start.startswith(magic) or str(path).endswith(suffix):
                yield open_chunks(_decompress(file, decoder))
                return
        yield file


def check_read_once(paths: Iterable[str | Path | None]) -> None:
    """Check that at most one of the files of a command is standard input.

    Raises:
        UsageError: If several are.
    """
    if [str(path) for path in paths].count(STANDARD_INPUT) > 1:
        raise UsageError("-: standard input can be read only once: give a file for the other text")


class _Decoder(Protocol):
    """The interface that the three decompressors share."""

    def decompress(self, data: bytes, /) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


_FORMATS: tuple[tuple[str, bytes, Callable[[], _Decoder]], ...] = (
    (".gz", b"\x1f\x8b", lambda: zlib.decompressobj(31)),
    (".xz", b"\xfd7zXZ", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28)),
    (".zst", b"\x28\xb5\x2f\xfd", lambda: zstandard.ZstdDecompressor().decompressobj()),
)


def _decompress(file: BinaryIO, new: Callable[[], _Decoder]) -> Iterator[bytes]:
    """Yield the contents of the compressed members of a file, one after the other.

    Raises:
        OSError: If they are damaged or cut off, or a bomb.
    """
    decoder = new()
    read = made = 0
    while packed := file.read(PACKED):
        read += len(packed)
        while packed:
            if decoder.eof:
                packed = packed.lstrip(b"\0")  # both gzip and xz allow padding with zeros
                if not packed:
                    break
                decoder = new()
            try:
                data = decoder.decompress(packed)
            except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as problem:
                raise OSError(_explain(problem)) from None
            packed = decoder.unused_data
            made += len(data)
            if made > max(FREELY, EXPANSION * read):
                raise OSError(
                    f"it unpacks to more than {EXPANSION} times its size, as text hardly does: if it is text,"
                    " unpack it first"
                )
            yield data
    if not decoder.eof:
        raise OSError("the compressed data is cut off here")


def _explain(problem: Exception) -> str:
    """Return why data cannot be decompressed; both xz and zstd name memory if a file asks for much of it."""
    if "memory" in str(problem).lower():
        return (
            f"it was compressed with a very large window ({problem}): unpack it (zstd -d --long=31, xz -d) and"
            " compress it with the usual one"
        )
    return f"the compressed data is damaged here ({problem})"
