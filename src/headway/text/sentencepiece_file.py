"""A sentencepiece model of another program, and its pieces."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from headway.config.text import Subwords
from headway.errors import HeadwayError
from headway.text.vocabulary import (
    EOS,
    UNK,
    is_language,
    is_sound,
    language_symbol,
    read_bounded,
)


class SentencePieceFile:
    """A sentencepiece model file, parsed by the library's own protobuf.

    Args:
        path: The file.

    Attributes:
        path: The same.
        content: The bytes of the file.
        algorithm: How the model splits text.
        proto: The parsed model.
        pieces: The pieces in the order of their ids.

    Raises:
        HeadwayError: If the file is missing, too large, damaged, or uses another algorithm.
    """

    def __init__(self, path: Path) -> None:
        from google.protobuf.message import DecodeError
        from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

        self.path = path
        self.content = read_bounded(path)
        try:
            self.proto = ModelProto.FromString(self.content)
        except DecodeError as error:
            raise HeadwayError(f"{path}: not a sentencepiece model: {error}") from None
        self.pieces: list[str] = [piece.piece for piece in self.proto.pieces]
        if not all(isinstance(piece, str) for piece in self.pieces):  # protobuf returns bytes
            raise HeadwayError(f"{path}: not a sentencepiece model: a piece is not UTF-8")
        types = self.proto.trainer_spec
        algorithms = {types.UNIGRAM: "unigram", types.BPE: "bpe", types.WORD: "none"}
        if types.model_type not in algorithms:
            raise HeadwayError(f"{path}: not a sentencepiece model of unigrams, BPE or words")
        self.algorithm = cast("Subwords", algorithms[types.model_type])

    def to_vocabulary(self, languages: Sequence[str] = ()) -> bytes:
        """Return a model that splits text as this one does, into ids as Headway gives them.

        ``<unk>`` and ``</s>`` come first. Other control pieces are left out, because no text is split
        into them, except symbols of languages such as ``>>deu<<``.

        Args:
            languages: Codes of target languages; those without a symbol get one, at the end.

        Raises:
            HeadwayError: If text cannot be split as this model does.
        """
        proto = type(self.proto)()
        proto.CopyFrom(self.proto)
        spec, kinds = proto.trainer_spec, proto.SentencePiece
        if spec.treat_whitespace_as_suffix or not proto.normalizer_spec.escape_whitespaces:
            raise HeadwayError(
                f"{self.path}: marks spaces in another way than {chr(0x2581)} at the start of a word"
            )
        unknown = [piece for piece in self.proto.pieces if piece.type == kinds.UNKNOWN]
        if len(unknown) != 1:
            raise HeadwayError(f"{self.path}: has {len(unknown)} pieces for unknown text, not one")
        del proto.pieces[:]
        spec.unk_piece, spec.eos_piece, spec.unk_id, spec.eos_id = "<unk>", "</s>", UNK, EOS
        spec.bos_id = spec.pad_id = -1
        proto.pieces.add(piece=spec.unk_piece, score=unknown[0].score, type=kinds.UNKNOWN)
        proto.pieces.add(piece=spec.eos_piece, score=0.0, type=kinds.CONTROL)
        for piece in self.proto.pieces:
            is_text = piece.type not in (kinds.UNKNOWN, kinds.CONTROL)
            if is_text or (piece.type == kinds.CONTROL and is_language(piece.piece)):
                proto.pieces.add(piece=piece.piece, score=piece.score, type=piece.type)
        names = [piece.piece for piece in proto.pieces]
        for symbol in map(language_symbol, languages):
            if symbol not in names:
                names.append(symbol)
                proto.pieces.add(piece=symbol, score=0.0, type=kinds.CONTROL)
        if len(set(names)) < len(names):
            raise HeadwayError(
                f"{self.path}: has a piece twice, or {names[0]} or {names[1]} as text"
            )
        model = bytes(proto.SerializeToString())
        if not is_sound(model):
            raise HeadwayError(f"{self.path}: not a sentencepiece model that can be loaded")
        return model
