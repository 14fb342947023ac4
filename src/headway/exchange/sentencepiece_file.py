"""A foreign sentencepiece model: its pieces, and the same model with the pieces in another order.

Marian keeps in two files what Headway keeps in one: how text is split (``source.spm``) and which id a
piece has (``vocab.json``). A sentencepiece model is a list of pieces, each with a score and a type, and
the order of the pieces does not change how text is split. So an import puts the pieces in the order of
the vocabulary. An entry that is no piece becomes a piece of a type that no text is split into. A piece
that is no entry comes after ``<pad>``, where `headway.text.vocabulary` reads it as ``<unk>``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from headway.errors import HeadwayError
from headway.text.sentencepiece_bounds import MAX_BYTES, find_excess


class SentencePieceFile:
    """A sentencepiece model file, parsed by the library's own protobuf.

    Args:
        path: The file.

    Attributes:
        path: The same.
        content: The bytes of the file.
        algorithm: How the model splits text.
        pieces: The pieces in the order of their ids.

    Raises:
        HeadwayError: If the file is missing, too large, damaged, or uses another algorithm.
    """

    def __init__(self, path: Path) -> None:
        from google.protobuf.message import DecodeError
        from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

        if not path.is_file():
            raise HeadwayError(f"{path.parent}: no {path.name}")
        self.path = path
        with path.open("rb") as opened:
            self.content = opened.read(MAX_BYTES + 1)
        if excess := find_excess(self.content):
            raise HeadwayError(f"{path}: not a sentencepiece model: {excess}")
        try:
            self._proto = ModelProto.FromString(self.content)
        except DecodeError as error:
            raise HeadwayError(f"{path}: not a sentencepiece model: {error}") from None
        self.pieces: list[str] = [piece.piece for piece in self._proto.pieces]
        if not all(isinstance(piece, str) for piece in self.pieces):  # protobuf returns bytes
            raise HeadwayError(f"{path}: not a sentencepiece model: a piece is not UTF-8")
        types = self._proto.trainer_spec
        algorithms = {types.UNIGRAM: "unigram", types.BPE: "bpe"}
        if types.model_type not in algorithms:
            raise HeadwayError(f"{path}: not a sentencepiece model of unigrams or of BPE")
        self.algorithm = cast('Literal["unigram", "bpe"]', algorithms[types.model_type])

    def reordered(self, entries: Sequence[str]) -> bytes:
        """Return a model that splits text as this one does, into the ids of a vocabulary.

        Args:
            entries: The vocabulary in the order of its ids: ``<unk>``, ``</s>``, ..., ``<pad>``.

        Returns:
            A serialized sentencepiece model.
        """
        proto = type(self._proto)()
        proto.CopyFrom(self._proto)
        del proto.pieces[:]
        piece_type = proto.SentencePiece
        # BPE would merge through an unused piece and split differently; it ignores control pieces.
        absent = piece_type.UNUSED if self.algorithm == "unigram" else piece_type.CONTROL
        own = {piece.piece: piece for piece in self._proto.pieces}
        for entry in entries:
            known = own.pop(entry, None)
            score, kind = (0.0, absent) if known is None else (known.score, known.type)
            proto.pieces.add(piece=entry, score=score, type=kind)
        proto.pieces[0].type = piece_type.UNKNOWN
        proto.pieces[1].type = proto.pieces[len(entries) - 1].type = piece_type.CONTROL
        for piece in own.values():
            proto.pieces.add(piece=piece.piece, score=piece.score, type=piece.type)
        return bytes(proto.SerializeToString())
