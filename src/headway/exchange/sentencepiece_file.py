"""sentencepiece models whose ids are another vocabulary's, and the other way round.

Marian keeps two things apart that Headway has in one file: how a text is cut (``source.spm``) and which
id a piece has (``vocab.json``). A sentencepiece model is a list of pieces, each with a score and a kind,
and how it cuts does not depend on their order. So the pieces are put in the order of the vocabulary.
What else the vocabulary has gets a kind that no text is cut into, and pieces it does not have go behind
``<pad>``, where `headway.text.vocabulary` takes them for ``<unk>``.

The file is a protocol-buffers message: fields, each a key (number and wire type) and a value.
"""

import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from headway.errors import HeadwayError

LARGEST = 1 << 26  # bytes of a sentencepiece model
PIECES, TRAINER = 1, 2  # fields of the model
PIECE, SCORE, KIND = 1, 2, 3  # fields of a piece
MODEL_TYPE = 3  # a field of what it was trained with
ALGORITHMS = {1: "unigram", 2: "bpe"}


class Kind(IntEnum):
    """What a piece is to sentencepiece."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3  # never cut out of a text, says nothing
    USER_DEFINED = 4
    UNUSED = 5  # never cut out of a text, says what it spells
    BYTE = 6


class Piece(NamedTuple):
    """An entry of a sentencepiece model."""

    text: str
    score: float
    kind: int


class Field(NamedTuple):
    """A field of a message: its number, its value, and the bytes of both."""

    number: int
    value: bytes | int
    written: bytes


def read_model(path: Path) -> bytes:
    """Read a sentencepiece model.

    Raises:
        HeadwayError: If it is missing or larger than any.
    """
    if not path.is_file():
        raise HeadwayError(f"{path.parent}: no {path.name}")
    if path.stat().st_size > LARGEST:
        raise HeadwayError(f"{path}: larger than any sentencepiece model ({LARGEST} bytes)")
    return path.read_bytes()


def algorithm(model: bytes) -> str:
    """Return how a sentencepiece model cuts: unigram or bpe.

    Raises:
        ValueError: If it is another, or not a sentencepiece model.
    """
    number: bytes | int = 1
    for field in _fields(model):
        if field.number == TRAINER:
            number = next((f.value for f in _fields(field.value) if f.number == MODEL_TYPE), 1)
    if number not in ALGORITHMS:
        raise ValueError("cuts neither by unigram nor by BPE")
    return ALGORITHMS[int(number)]


def pieces(model: bytes) -> list[Piece]:
    """Return the pieces in the order of their ids.

    Raises:
        ValueError: If it is not a sentencepiece model.
    """
    return [_piece(field.value) for field in _fields(model) if field.number == PIECES]


def reordered(model: bytes, names: Sequence[str]) -> bytes:
    """Return a model that cuts as another one does, into the ids of a vocabulary.

    Args:
        model: A serialized sentencepiece model.
        names: The entries by their ids: ``<unk>``, ``</s>``, and at the end ``<pad>``.

    Raises:
        ValueError: If it is not a sentencepiece model.
    """
    own = {piece.text: piece for piece in pieces(model)}
    # BPE would merge its way through an unused piece and cut otherwise; a control piece is no step.
    absent = Kind.UNUSED if algorithm(model) == "unigram" else Kind.CONTROL
    front = [own.pop(name, Piece(name, 0.0, absent)) for name in names]
    front[0] = front[0]._replace(kind=Kind.UNKNOWN)
    front[1] = front[1]._replace(kind=Kind.CONTROL)
    front[-1] = front[-1]._replace(kind=Kind.CONTROL)
    written = [_tagged(PIECES, _written(piece)) for piece in (*front, *own.values())]
    rest = [field.written for field in _fields(model) if field.number != PIECES]
    return b"".join(written + rest)


def _fields(message: bytes | int) -> Iterator[Field]:
    if isinstance(message, int):
        raise ValueError("a number stands where a message should")
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        value: bytes | int
        match key & 7:
            case 0:
                value, at = _varint(message, at)
            case 1:
                value, at = message[at : at + 8], at + 8
            case 2:
                size, at = _varint(message, at)
                value, at = message[at : at + size], at + size
            case 5:
                value, at = message[at : at + 4], at + 4
            case kind:
                raise ValueError(f"no such wire type: {kind}")
        if at > len(message):
            raise ValueError("ends in the middle of a field")
        yield Field(key >> 3, value, message[start:at])


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            raise ValueError("ends in the middle of a number")
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("holds a number of more than 64 bits")


def _piece(message: bytes | int) -> Piece:
    text, score, kind = "", 0.0, int(Kind.NORMAL)
    for field in _fields(message):
        if field.number == PIECE and isinstance(field.value, bytes):
            text = field.value.decode("utf-8")
        elif field.number == SCORE and isinstance(field.value, bytes):
            (score,) = struct.unpack("<f", field.value)
        elif field.number == KIND and isinstance(field.value, int):
            kind = field.value
    return Piece(text, score, kind)


def _written(piece: Piece) -> bytes:
    score = bytes([SCORE << 3 | 5]) + struct.pack("<f", piece.score)
    return _tagged(PIECE, piece.text.encode()) + score + bytes([KIND << 3, piece.kind])


def _tagged(number: int, value: bytes) -> bytes:
    size, length = len(value), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + value
