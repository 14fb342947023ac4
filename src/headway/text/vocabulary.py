"""The subword vocabulary of one side: a sentencepiece model, and what Headway adds to it.

No text is lost: characters without a subword become bytes. No text can produce the control symbols
``<unk>`` (id 0), ``</s>`` (id 1) and ``<pad>``. The last id is ``<pad>``; the sentencepiece model of
a vocabulary that Headway learned does not have it.

An imported vocabulary may have fewer entries than its sentencepiece model has pieces. Its ``<pad>`` is
a control piece of the model: the pieces before it are the entries, and the pieces after it mean
``<unk>``.

A vocabulary for several target languages has a symbol for each, such as ``>>deu<<``: a control or unused
piece, which no text is split into. A caller names the language of a text, and its symbol comes first. If
the caller names none, a text may begin with the name of a symbol itself, as texts for OPUS-MT do.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise, takewhile
from pathlib import Path
from random import Random

from sentencepiece import SentencePieceProcessor

from headway.errors import HeadwayError
from headway.text.words import is_byte

UNK, EOS = 0, 1
PAD = "<pad>"
SPACE = "\u2581"  # how sentencepiece writes a space; in a user's text it becomes its three bytes
# Of a serialized model. A protobuf of two bytes an entry takes seventy bytes an entry once it is parsed.
MAX_BYTES = 1 << 24
MAX_PIECES = 300_000
MAX_PIECE_BYTES = 1 << 12
MAX_OTHER_BYTES = 1 << 20  # training settings and the normalization table, together
PIECES, WIRE_BYTES = 1, 2  # a field's number, and the wire type of strings and messages
FEW = 32  # texts that are tokenized sooner one after the other than by threads


@dataclass(frozen=True)
class Draw:
    """How to tokenize with BPE dropout (Provilkov et al. 2020); the same seed, the same subwords.

    Attributes:
        dropout: The probability that a merge is omitted when its turn comes.
        seed: Of the random numbers.
    """

    dropout: float
    seed: int


class Vocabulary:
    """The subwords of one side, and their ids.

    Args:
        model: A serialized sentencepiece model.
        threads: Threads that tokenize a list of texts; -1: as many as there are cores.

    Attributes:
        model: The serialized model.
        pad: The id of ``<pad>``.
        size: Number of ids, ``<pad>`` included.
        ends_texts: Whether ``</s>`` stands behind each source; models of OpenNMT have none there, and an
            unused ``</s>`` in their vocabulary says so.
    """

    def __init__(self, model: bytes, threads: int = -1) -> None:
        self.model = model
        self._processor = SentencePieceProcessor(model_proto=model, num_threads=threads)
        pad = int(self._processor.piece_to_id(PAD))
        self.pad = pad if self._processor.is_control(pad) else int(self._processor.vocab_size())
        self.size = self.pad + 1
        self.ends_texts = not self._processor.is_unused(EOS)

    @property
    def all_pieces(self) -> list[str]:
        """All pieces of the sentencepiece model; an imported one may have more pieces than ids."""
        return [self._processor.id_to_piece(i) for i in range(self._processor.vocab_size())]

    @cached_property
    def letters(self) -> frozenset[str]:
        """The letters of the subwords; bytes and control symbols have none."""
        pieces = enumerate(self.all_pieces[: self.pad])
        texts = (piece for entry, piece in pieces if self._is_text(entry))
        return frozenset(filter(str.isalpha, chain.from_iterable(texts)))

    @cached_property
    def languages(self) -> dict[str, int]:
        """The codes of the target languages that the vocabulary has symbols for, and their ids."""
        return {
            piece.removeprefix(">>").removesuffix("<<"): entry
            for entry, piece in enumerate(self.all_pieces[: self.pad])
            if is_language(piece) and self._is_symbol(entry)
        }

    def encode(
        self,
        texts: Sequence[str],
        drawn: Draw | None = None,
        language: str = "",
        *,
        may_name: bool = True,
        ends: bool = True,
    ) -> list[list[int]]:
        """Tokenize texts.

        Args:
            texts: Any text.
            drawn: Omit merges at random (BPE dropout); None: the usual subwords.
            language: A code in `languages`, whose symbol comes first; empty: none does.
            may_name: Whether a text may begin with the name of another symbol, which then comes first.
            ends: Whether the ids of each text end with ``</s>``; otherwise a text without ids gets ``<unk>``.
        """
        if isinstance(texts, str):  # a sequence of characters
            raise HeadwayError("a text is given in the place of several: give a list of texts")
        symbol = [self.languages[language]] if language else []
        clean = map(_replace_surrogates, texts)
        named = [self._after_language(text) if may_name else ([], text) for text in clean]
        rest = [text for _, text in named]
        encoded = [
            ids if self._are_entries(text, ids) else [entry for entry, _ in self._spell(text)]
            for text, ids in zip(rest, self._split(rest, drawn), strict=True)
        ]
        tail = [EOS] if ends else []
        return [
            [*(own or symbol), *ids, *tail] or [UNK]
            for (own, _), ids in zip(named, encoded, strict=True)
        ]

    def divide(self, text: str, language: str = "", *, may_name: bool = True) -> list[str]:
        """Return the part of a text that each of its ids but ``</s>`` stands for, with the arguments of `encode`.

        Joined they are the text without the name of a language, also where normalization changes it; symbols have
        none. The bytes of a character have none but the last, which has the character. If normalization leaves
        nothing of the text, it is the part of ``</s>``.
        """
        clean = _replace_surrogates(text)
        own, rest = self._after_language(clean) if may_name else ([], clean)
        parts = [part for _, part in self._spell(rest)] or [rest]
        return ["", *parts] if own or language else parts

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids up to the first ``</s>``; ``<pad>`` is skipped."""
        before_end = takewhile(lambda i: i != EOS, (int(i) for i in ids))
        return str(self._processor.decode([i for i in before_end if i != self.pad]))

    def decode_each(self, ids: Sequence[int]) -> list[str]:
        """Return the text of each id, which are joined the text of all; symbols have none.

        The bytes of a character have none but the last, which has the character.
        """
        known = [int(i) for i in ids if i != self.pad]
        pieces = iter(self._processor.decode(known, return_type="proto").pieces)
        return ["" if i == self.pad else next(pieces).surface for i in ids]

    def subwords(self, ids: Sequence[int]) -> list[str]:
        """Return the subwords of ids; a subword that starts a word begins with U+2581."""
        return [PAD if i == self.pad else self._processor.id_to_piece(i) for i in ids]

    def named_language(self, text: str) -> str:
        """Return the target language that a text begins with, such as ``>>deu<<``, or ''."""
        return text[: len(text) - len(self._after_language(text)[1])]

    def _after_language(self, text: str) -> tuple[list[int], str]:
        """Return the entry of the target language that a text begins with, if any, and the rest."""
        if text.startswith(">>"):
            code, end, rest = text.partition("<<")
            entry = self.languages.get(code.removeprefix(">>"))
            if end and entry is not None:
                return [entry], rest
        return [], text

    def _is_symbol(self, entry: int) -> bool:
        """Return whether no text is split into an entry."""
        return bool(self._processor.is_unused(entry) or self._processor.is_control(entry))

    def _is_text(self, entry: int) -> bool:
        """Return whether an entry is a piece of text; symbols, bytes and ``<unk>`` are none."""
        read = self._processor
        return not (self._is_symbol(entry) or read.is_byte(entry) or read.is_unknown(entry))

    def _split(self, texts: list[str], drawn: Draw | None) -> list[list[int]]:
        if drawn is not None:
            return [self._draw(text, drawn) for text in texts]
        # For a list sentencepiece starts threads, which takes longer than a few sentences.
        encode = self._processor.encode
        ids: list[list[int]] = list(map(encode, texts)) if len(texts) <= FEW else encode(texts)
        return ids

    def _draw(self, text: str, drawn: Draw) -> list[int]:
        from headway.text.merging import merge

        normal = self._processor.normalize(text)
        # The subwords of a text do not depend on the texts around it.
        random = Random(f"{drawn.seed} {text}")
        ids: list[int] = []
        for piece in merge(normal, self._scores, drawn.dropout, random):
            i = self._processor.piece_to_id(piece)
            in_bytes = i == UNK and self._has_bytes
            ids += [self._byte(byte) for byte in piece.encode()] if in_bytes else [i]
        return ids

    @cached_property
    def _scores(self) -> dict[str, float]:
        """The score of each piece that text can be split into.

        Raises:
            HeadwayError: If the model is not BPE. (The score of a BPE piece is the negated number of
                its merge.)
        """
        score = self._processor.get_score
        scores = {piece: score(i) for i, piece in enumerate(self.all_pieces) if self._is_text(i)}
        if not all(score.is_integer() for score in scores.values()):
            raise HeadwayError(
                "text.copies needs a BPE vocabulary, which has merges to omit; this one is unigram"
            )
        return scores

    @cached_property
    def _has_bytes(self) -> bool:
        return bool(self._processor.is_byte(self._byte(0xE2)))

    def _byte(self, byte: int) -> int:
        return int(self._processor.piece_to_id(f"<0x{byte:02X}>"))

    def _are_entries(self, text: str, ids: Sequence[int]) -> bool:
        """Return whether the ids that sentencepiece gives for a text are those of `_spell`, which takes longer."""
        return SPACE not in text and UNK not in ids and max(ids, default=0) < self.pad

    def _spell(self, text: str) -> list[tuple[int, str]]:
        """Return the entries of a text, each with the part that it stands for; joined the parts are the text.

        Sentencepiece would take U+2581 for a space. A character without a piece is put in its place, and the bytes
        of that character are then replaced by those of U+2581. In a vocabulary without bytes U+2581 becomes a space.
        """
        if SPACE not in text or not self._has_bytes:
            return self._spell_plain(text)
        stand_in = next(
            character
            for character in map(chr, range(0x10FFFD, 0, -1))
            if character not in text and self._processor.piece_to_id(character) == UNK
        )
        spelled = self._spell_plain(text.replace(SPACE, stand_in))
        ids = [entry for entry, _ in spelled]
        old, new = (
            [self._byte(byte) for byte in character.encode()] for character in (stand_in, SPACE)
        )
        exchanged: list[tuple[int, str]] = []
        at = 0
        while at < len(ids):
            found = ids[at : at + len(old)] == old
            end = at + (len(old) if found else 1)
            part = "".join(part for _, part in spelled[at:end]).replace(stand_in, SPACE)
            exchanged += [(byte, "") for byte in new[:-1]] if found else []
            exchanged.append((new[-1] if found else ids[at], part))
            at = end
        return exchanged

    def _spell_plain(self, text: str) -> list[tuple[int, str]]:
        """Return what `_spell` does for a text of which sentencepiece reads all characters as they are.

        Pieces that are no entries of an imported vocabulary are ``<unk>``. A string of characters without a piece
        may be an entry: a subword of the other language.
        """
        pieces = self._processor.encode(text, return_type="proto").pieces
        entries = [self._processor.piece_to_id(piece.piece) for piece in pieces]
        # Sentencepiece counts bytes.
        places = [*accumulate((len(character.encode()) for character in text), initial=0)]
        # A part begins where the one before it ends, so that it has the white space that normalization removes.
        ends = [bisect_left(places, piece.end) for piece in pieces[:-1]]
        cuts = [0, *ends, len(text)] if pieces else []
        return [
            (entry if EOS < entry < self.pad else UNK, text[start:end])
            for entry, (start, end) in zip(entries, pairwise(cuts), strict=True)
        ]


def _replace_surrogates(text: str) -> str:
    """Return a text with question marks in the place of lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_model(file: Path) -> bytes:
    """Read a serialized sentencepiece model with the pieces of a vocabulary.

    Raises:
        HeadwayError: If the file cannot be read, is too large or no such model, or has a piece that
            is not UTF-8.
    """
    model = read_bounded(file)
    if not is_sound(model):
        raise HeadwayError(f"{file}: not a sentencepiece model, or damaged")
    return model


def read_bounded(file: Path) -> bytes:
    """Read a file that may be a sentencepiece model, and check that it can be parsed in little memory.

    Raises:
        HeadwayError: If the file cannot be read, or is no such model.
    """
    try:
        with file.open("rb") as opened:
            model = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    if excess := _find_excess(model):
        raise HeadwayError(f"{file}: not a sentencepiece model: {excess}")
    return model


def _find_excess(model: bytes) -> str:
    """Return what makes a serialized model no sentencepiece model or one of excessive size, or ''.

    The entries are counted without storing them.
    """
    if not model:  # sentencepiece would load it as a model without pieces
        return "it is empty"
    if len(model) > MAX_BYTES:
        return f"it has more than {MAX_BYTES:,} bytes"
    pieces = other_bytes = at = 0
    try:
        while at < len(model):
            key, at = _read_number(model, at)
            if key & 7 != WIRE_BYTES:  # all fields of the outer message are messages
                return "it is damaged"
            length, at = _read_number(model, at)
            at += length
            if key >> 3 != PIECES:
                other_bytes += length + 2
            elif length > MAX_PIECE_BYTES:
                return f"a piece has more than {MAX_PIECE_BYTES:,} bytes"
            else:
                pieces += 1
            if pieces > MAX_PIECES:
                return f"it has more than {MAX_PIECES:,} pieces"
            if other_bytes > MAX_OTHER_BYTES:
                return f"its settings have more than {MAX_OTHER_BYTES:,} bytes"
    except IndexError:
        return "it is damaged"
    if at != len(model):
        return "it is truncated"
    return "" if pieces else "it has no pieces"


def _read_number(model: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length integer at a position, and the position after it."""
    number = 0
    for shift in range(0, 70, 7):
        byte = model[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise IndexError


def is_language(piece: str) -> bool:
    """Return whether a piece is the symbol of a target language, such as ``>>deu<<``."""
    return len(piece) > 4 and piece.startswith(">>") and piece.endswith("<<")


def is_blank(piece: str) -> bool:
    """Return whether an entry of the vocabulary has no text: white space, or the name of a target language."""
    written = bytes.fromhex(piece[3:5]).decode("ascii", "replace") if is_byte(piece) else piece
    return is_language(piece) or not written.replace(SPACE, " ").strip()


def language_symbol(code: str) -> str:
    """Return the piece that is the symbol of a target language."""
    return f">>{code}<<"


def is_sound(model: bytes) -> bool:
    """Return whether sentencepiece can load a model, and its pieces are those of a vocabulary."""
    try:
        processor = SentencePieceProcessor(model_proto=model)
        pieces = processor.id_to_piece(list(range(processor.vocab_size())))
    except (RuntimeError, IndexError, UnicodeDecodeError):
        return False
    return len(pieces) > EOS and pieces[EOS] == "</s>"
