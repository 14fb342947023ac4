"""The pieces of one side: a sentencepiece model, and what Headway adds to it.

No text is lost: what has no piece becomes bytes. Control symbols are ids that no text can produce:
``<unk>`` 0, ``</s>`` 1, and ``<pad>``, the last id, which the sentencepiece model does not know of.

An imported vocabulary may have fewer entries than its sentencepiece model has pieces. There ``<pad>``
is a control piece: what stands before it are the entries, what follows means ``<unk>``. An entry that
no text is cut into, such as ``>>deu<<``, is an unused piece; a text may begin with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Any

from headway.errors import HeadwayError
from headway.text.merging import merge

UNK, EOS = 0, 1
PAD = "<pad>"
SPACE = "\u2581"  # sentencepiece writes a space so; typed by a user, it becomes its three bytes


@dataclass(frozen=True)
class Draw:
    """Pieces drawn at random, the same ones for the same seed (Provilkov et al. 2020, BPE dropout).

    Attributes:
        dropout: The chance that a merge is left out when its turn comes.
        seed: Another seed, other pieces.
    """

    dropout: float
    seed: int


class Vocabulary:
    """The pieces of one side, and their ids.

    Args:
        model: A serialized sentencepiece model.

    Attributes:
        model: The same.
        pad: Id of ``<pad>``.
        size: Ids, ``<pad>`` included.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._processor = _processor(model)
        pad = int(self._processor.piece_to_id(PAD))
        self.pad = pad if self._processor.is_control(pad) else int(self._processor.vocab_size())
        self.size = self.pad + 1

    @property
    def all_pieces(self) -> list[str]:
        """What the sentencepiece model holds, which may be more than there are ids."""
        return [self._processor.id_to_piece(i) for i in range(self._processor.vocab_size())]

    def encode(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Turn texts into ids, each with ``</s>`` at its end.

        Args:
            texts: Any text.
            drawn: Leave merges out at random; None: the best pieces, always the same.
        """
        # Lone surrogates are no text and cannot be bytes: they become question marks.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        named = [self._after_language(text) for text in clean]
        rest = [text for _, text in named]
        encoded = [
            self._encode_spaces_apart(text) if SPACE in text else ids
            for text, ids in zip(rest, self._cut(rest, drawn), strict=True)
        ]
        return [
            [*language, *self._entries(text, ids), EOS]
            for (language, text), ids in zip(named, encoded, strict=True)
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn ids into text, up to the first ``</s>``; ``<pad>`` says nothing."""
        said = takewhile(lambda i: i != EOS, (int(i) for i in ids))
        return str(self._processor.decode([i for i in said if i != self.pad]))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Spell ids out; a piece that starts a word begins with U+2581."""
        return [PAD if i == self.pad else self._processor.id_to_piece(i) for i in ids]

    def named_language(self, text: str) -> str:
        """Return what a text begins with if that names a target language: ``>>deu<<``."""
        return text[: len(text) - len(self._after_language(text)[1])]

    def _after_language(self, text: str) -> tuple[list[int], str]:
        """Part a text from the target language it begins with, as an entry, if there is such a one."""
        if text.startswith(">>"):
            code, end, rest = text.partition("<<")
            entry = self._processor.piece_to_id(code + end)
            if self._processor.is_unused(entry) or self._processor.is_control(entry):
                return [entry], rest
        return [], text

    def _cut(self, texts: list[str], drawn: Draw | None) -> Any:
        if drawn is not None:
            return [self._draw(text, drawn) for text in texts]
        # For a list threads are started, which takes longer than a sentence.
        encode = self._processor.encode
        return [encode(texts[0])] if len(texts) == 1 else encode(texts)

    def _draw(self, text: str, drawn: Draw) -> list[int]:
        normal = self._processor.normalize(text)
        # What a text is cut into depends on nothing that stands beside it.
        random = Random(f"{drawn.seed} {text}")
        ids: list[int] = []
        for piece in merge(normal, self._scores, drawn.dropout, random):
            i = self._processor.piece_to_id(piece)
            in_bytes = i == UNK and self._has_bytes
            ids += [self._byte(byte) for byte in piece.encode()] if in_bytes else [i]
        return ids

    @cached_property
    def _scores(self) -> dict[str, float]:
        """The score of each piece that text is cut into.

        Raises:
            HeadwayError: If they are not of merges: those have the number of their merge, negated.
        """
        processor = self._processor
        kinds = (
            processor.is_unknown, processor.is_control, processor.is_unused, processor.is_byte,
        )  # fmt: skip
        normal = (i for i in range(processor.vocab_size()) if not any(kind(i) for kind in kinds))
        scores = {processor.id_to_piece(i): processor.get_score(i) for i in normal}
        if not all(score.is_integer() for score in scores.values()):
            raise HeadwayError("text.copies draws merges: it needs a BPE vocabulary, not unigrams")
        return scores

    @cached_property
    def _has_bytes(self) -> bool:
        return bool(self._processor.is_byte(self._byte(0xE2)))

    def _byte(self, byte: int) -> int:
        return int(self._processor.piece_to_id(f"<0x{byte:02X}>"))

    def _encode_spaces_apart(self, text: str) -> list[int]:
        """Encode a text that holds U+2581 itself, which sentencepiece would take for a space.

        A character that has no piece stands in for it, and its bytes are then exchanged. A vocabulary
        without bytes has no other way to say it than a space.
        """
        if not self._has_bytes:
            return list(self._processor.encode(text))
        stand_in = next(
            character
            for character in map(chr, range(0x10FFFD, 0, -1))
            if character not in text and self._processor.piece_to_id(character) == UNK
        )
        ids: list[int] = self._processor.encode(text.replace(SPACE, stand_in))
        old, new = (
            [self._byte(byte) for byte in character.encode()] for character in (stand_in, SPACE)
        )
        exchanged: list[int] = []
        at = 0
        while at < len(ids):
            found = ids[at : at + len(old)] == old
            exchanged += new if found else ids[at : at + 1]
            at += len(old) if found else 1
        return exchanged

    def _entries(self, text: str, ids: list[int]) -> list[int]:
        """Let pieces be ``<unk>`` that are no entries of an imported vocabulary.

        Characters without a piece may be an entry all the same: one of the other language.
        """
        if UNK not in ids and max(ids, default=0) < self.pad:
            return ids
        spelled = self._processor.encode(text, out_type=str)
        found = (self._processor.piece_to_id(piece) for piece in spelled)
        return [i if EOS < i < self.pad else UNK for i in found]


def read_model(file: Path) -> bytes:
    """Read a serialized sentencepiece model.

    Raises:
        HeadwayError: If it cannot be read, or is none whose pieces can all be spelled.
    """
    try:
        model = file.read_bytes()
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    if not _is_sound(model):
        raise HeadwayError(f"{file}: not a sentencepiece model, or damaged")
    return model


def _is_sound(model: bytes) -> bool:
    if not model:  # it would load, as a model without pieces
        return False
    try:
        processor = _processor(model)
        pieces = processor.id_to_piece(list(range(processor.vocab_size())))
    except (RuntimeError, IndexError, UnicodeDecodeError):
        return False
    return len(pieces) > EOS and pieces[EOS] == "</s>"


def _processor(model: bytes) -> Any:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=model)
