"""Compressed files, read as what was compressed."""

import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Protocol

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PACKED = 2048  # bytes decompressed at once: zstd makes at most 64 MB of them
# Text packs to a third or a tenth of its size, rarely to a thirtieth. A file that unpacks to more than
# FREELY bytes and to EXPANSION times its size is a bomb, which would be read for hours.
FREELY, EXPANSION = 100_000_000, 200


class _Decoder(Protocol):
    """The interface that the three decompressors share."""

    def decompress(self, data: bytes, /) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    ".gz": lambda: zlib.decompressobj(31),
    ".xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28),
    ".zst": lambda: zstandard.ZstdDecompressor().decompressobj(),
}


def decompress(file: BinaryIO, suffix: str) -> Iterator[bytes]:
    """Yield the contents of the compressed members of a file, one after the other.

    Args:
        file: The compressed file.
        suffix: Of the program that compressed it, such as ".gz".

    Raises:
        OSError: If the compressed data is damaged, cut off or followed by other data, or a bomb.
    """
    new = _DECODERS[suffix]
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
                raise OSError(
                    f"it is damaged here, or compressed with a very large window ({problem}): unpack it first"
                ) from None
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
