"""The lines of a text file, compressed or not, read in constant memory.

Only ``\\n`` ends a line. `str.splitlines` also splits at U+2028, U+0085, vertical tabs and form feeds.
These occur inside real sentences, and splitting there would shift one side of a corpus against the
other.
"""

import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

import zstandard

from headway.errors import HeadwayError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST = 1_000_000  # bytes of a line; a longer line means that the file is not text
PACKED = 2048  # bytes decompressed at once: zstd makes at most 64 MB of them
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: JSON can express it, UTF-8 cannot


class Damaged(NamedTuple):
    """A line that cannot be read.

    Args:
        file: The file.
        line: The number of the line in the file, from 1.
        reason: What is wrong with the line.
    """

    file: str
    line: int
    reason: str

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
            raise line.error()
        yield line


def scan_lines(path: str | Path) -> Iterator[str | Damaged]:
    """Read like `read_lines`, but yield a `Damaged` for a line that cannot be read, and continue.

    Raises:
        HeadwayError: If the file cannot be opened, or cannot be read to its end.
    """
    number = 0
    with open_bytes(path) as file:
        try:
            while raw := file.readline(LONGEST + 1):
                number += 1
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                        raise HeadwayError(f"{path}:1: UTF-16 text; UTF-8 is right")
                if len(raw) > LONGEST:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST)
                    yield Damaged(str(path), number, f"longer than {LONGEST} bytes")
                    continue
                try:
                    yield raw.decode().removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError as problem:
                    where = f"byte 0x{raw[problem.start]:02x} at position {problem.start + 1}"
                    yield Damaged(str(path), number, f"not UTF-8: {where}")
        except OSError as problem:
            raise HeadwayError(f"{path}:{number + 1}: {problem.strerror or problem}") from None


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
    if str(path) == "-":
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
                yield io.BufferedReader(_Stream(_decompress(file, decoder)), 1 << 16)
                return
        yield file


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
    """Yield the contents of the compressed members of a file, one after the other."""
    decoder = new()
    while packed := file.read(PACKED):
        while packed:
            if decoder.eof:
                packed = packed.lstrip(b"\0")  # both gzip and xz allow padding with zeros
                if not packed:
                    break
                decoder = new()
            try:
                data = decoder.decompress(packed)
            except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as problem:
                raise OSError(f"the compressed data is damaged here ({problem})") from None
            packed = decoder.unused_data
            yield data
    if not decoder.eof:
        raise OSError("the compressed data is cut off here")


class _Stream(io.RawIOBase):
    """A readable file made of chunks of bytes."""

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
