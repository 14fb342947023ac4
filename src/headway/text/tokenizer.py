"""Raw text to piece ids and back, with sentencepiece (paper: section 5.1, byte-pair encoding).

Nothing is normalised and no text is lost: what has no piece becomes bytes. Control symbols are ids
that no text can produce: ``<unk>`` 0, ``</s>`` 1, and ``<pad>``, the last id, which the sentencepiece
model does not know of.

An imported vocabulary may have fewer entries than its sentencepiece model has pieces. There ``<pad>``
is a control piece: what stands before it are the entries, what follows means ``<unk>``. An entry that
no text is cut into, such as ``>>deu<<``, is an unused piece; a text may begin with it.
"""

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.files import replace_bytes

UNK, EOS = 0, 1
PAD = "<pad>"
SPACE = "\u2581"  # sentencepiece writes a space so; typed by a user, it becomes its three bytes


@dataclass(frozen=True)
class Draw:
    """Pieces drawn at random, the same ones for the same seed (Provilkov et al. 2020, BPE dropout).

    Attributes:
        dropout: The chance that a merge is left out each time it could be made.
        seed: Another seed, other pieces.
    """

    dropout: float
    seed: int


class Tokenizer:
    """One vocabulary for both languages, or one for each.

    Args:
        source: A serialized sentencepiece model.
        target: The same, for the target; None: joint.

    Example:
        >>> tokenizer = Tokenizer.load("runs/demo")
        >>> tokenizer.decode(tokenizer.encode_target(["am 1. Juni"])[0])
        'am 1. Juni'
    """

    eos = EOS
    unk = UNK

    def __init__(self, source: bytes, target: bytes | None = None) -> None:
        self._models = (source, target)
        self._source = _processor(source)
        self._target = self._source if target is None else _processor(target)

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str]], config: TextConfig) -> "Tokenizer":
        """Learn the subwords of parallel text.

        Args:
            pairs: (source, target) lines; read once if the vocabulary is joint.
            config: ``vocab_size`` counts the control symbols too.

        Raises:
            HeadwayError: If the text is too small for the vocabulary, with the largest that fits.
        """
        if config.joint_vocab:
            return cls(_learn((side for pair in pairs for side in pair), config))
        held = list(pairs)
        return cls(_learn((s for s, _ in held), config), _learn((t for _, t in held), config))

    @classmethod
    def load(cls, directory: str | Path) -> "Tokenizer":
        """Read ``tokenizer.model``, or ``source.model`` and ``target.model``.

        Raises:
            HeadwayError: Naming the file that is missing or damaged.
        """
        directory = Path(directory)
        joint = directory / "tokenizer.model"
        files = (
            [joint] if joint.exists() else [directory / "source.model", directory / "target.model"]
        )
        for file in files:
            if not file.is_file():
                raise HeadwayError(f"{directory}: no tokenizer.model")
        models = []
        for file in files:
            try:
                models.append(file.read_bytes())
            except OSError as error:
                raise HeadwayError(f"{file}: {error.strerror or error}") from None
            if not _is_sound(models[-1]):
                raise HeadwayError(f"{file}: not a sentencepiece model, or damaged")
        from headway.text.labels import LabelledText, read_labels  # which is one of these

        labels = read_labels(directory)
        return cls(*models) if labels is None else LabelledText(models[0], labels)

    def save(self, directory: str | Path) -> None:
        """Write what `load` reads; each file appears whole or not at all."""
        source, target = self._models
        files = (
            {"tokenizer.model": source}
            if target is None
            else {"source.model": source, "target.model": target}
        )
        for name, model in files.items():
            replace_bytes(Path(directory) / name, model)

    @property
    def joint(self) -> bool:
        """Whether both languages share a vocabulary, and one sentencepiece model."""
        return self._models[1] is None

    @property
    def models(self) -> tuple[bytes, bytes]:
        """The serialized sentencepiece models of source and target."""
        source, target = self._models
        return source, source if target is None else target

    @property
    def source_vocab_size(self) -> int:
        """Ids of the source side, ``<pad>`` included."""
        return self.source_pad + 1

    @property
    def target_vocab_size(self) -> int:
        """Ids of the target side, ``<pad>`` included."""
        return self.target_pad + 1

    @property
    def source_pad(self) -> int:
        """Id of ``<pad>`` on the source side."""
        return _pad(self._source)

    @property
    def target_pad(self) -> int:
        """Id of ``<pad>`` on the target side."""
        return _pad(self._target)

    @property
    def fingerprint(self) -> str:
        """A hash of the pieces, which does not depend on where and how they were learned."""
        digest = hashlib.sha256()
        for processor in (self._source, self._target):
            pieces = [processor.id_to_piece(i) for i in range(processor.vocab_size())]
            digest.update("\n".join(pieces).encode() + b"\n\n")
        return digest.hexdigest()

    def encode_source(self, texts: Sequence[str], drawn: "Draw | None" = None) -> list[list[int]]:
        """Turn source texts into ids, each with ``</s>`` at its end.

        Args:
            texts: Any text.
            drawn: Leave merges out at random; None: the best pieces, always the same.
        """
        return _encode(self._source, texts, drawn)

    def encode_target(self, texts: Sequence[str], drawn: "Draw | None" = None) -> list[list[int]]:
        """Turn target texts into ids, as `encode_source` does."""
        return _encode(self._target, texts, drawn)

    def named_language(self, text: str) -> str:
        """Return what a source text begins with if that names a target language: ``>>deu<<``."""
        return text[: len(text) - len(_after_language(self._source, text)[1])]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn target ids into text, up to the first ``</s>``; ``<pad>`` says nothing."""
        return _decode(self._target, ids)

    def decode_source(self, ids: Sequence[int]) -> str:
        """Turn source ids into text, up to the first ``</s>``; ``<pad>`` says nothing."""
        return _decode(self._source, ids)

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Spell source ids out; a piece that starts a word begins with U+2581."""
        return _pieces(self._source, ids)

    def target_pieces(self, ids: Sequence[int]) -> list[str]:
        """Spell target ids out; a piece that starts a word begins with U+2581."""
        return _pieces(self._target, ids)


def _processor(model: bytes) -> Any:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=model)


def _is_sound(model: bytes) -> bool:
    """Whether this is a sentencepiece model whose pieces can all be spelled."""
    if not model:  # it would load, as a model without pieces
        return False
    try:
        processor = _processor(model)
        pieces = processor.id_to_piece(list(range(processor.vocab_size())))
    except (RuntimeError, IndexError, UnicodeDecodeError):
        return False
    return len(pieces) > EOS and pieces[EOS] == "</s>"


def _pad(processor: Any) -> int:
    pad = int(processor.piece_to_id(PAD))
    return pad if processor.is_control(pad) else int(processor.vocab_size())


def _encode(processor: Any, texts: Sequence[str], drawn: Draw | None) -> list[list[int]]:
    # Lone surrogates are no text and cannot be bytes: they become question marks.
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    named = [_after_language(processor, text) for text in clean]
    rest = [text for _, text in named]
    encoded = [
        _encode_spaces_apart(processor, text) if SPACE in text else ids
        for text, ids in zip(rest, _pieces_of(processor, rest, drawn), strict=True)
    ]
    return [
        [*language, *_entries(processor, text, ids), EOS]
        for (language, text), ids in zip(named, encoded, strict=True)
    ]


def _after_language(processor: Any, text: str) -> tuple[list[int], str]:
    """Part a text from the target language it begins with, as an entry, if there is such a one."""
    if text.startswith(">>"):
        code, end, rest = text.partition("<<")
        entry = processor.piece_to_id(code + end)
        if processor.is_unused(entry) or processor.is_control(entry):
            return [entry], rest
    return [], text


def _entries(processor: Any, text: str, ids: list[int]) -> list[int]:
    """Let pieces be ``<unk>`` that are no entries of an imported vocabulary.

    Characters without a piece may be an entry all the same: one of the other language.
    """
    pad = _pad(processor)
    if UNK not in ids and max(ids, default=0) < pad:
        return ids
    found = (processor.piece_to_id(piece) for piece in processor.encode(text, out_type=str))
    return [i if EOS < i < pad else UNK for i in found]


def _pieces_of(processor: Any, texts: list[str], drawn: Draw | None) -> Any:
    if drawn is None:
        # For a list threads are started, which takes longer than a sentence.
        return [processor.encode(texts[0])] if len(texts) == 1 else processor.encode(texts)
    from sentencepiece import set_random_generator_seed

    # A thread of sentencepiece's starts from the seed that is set when it starts: one thread, begun
    # here, draws the same pieces on every machine.
    set_random_generator_seed(drawn.seed)
    return processor.encode(texts, enable_sampling=True, alpha=drawn.dropout, num_threads=1)


def _encode_spaces_apart(processor: Any, text: str) -> list[int]:
    """Encode a text that holds U+2581 itself, which sentencepiece would take for a space.

    A character that has no piece stands in for it, and its bytes are then exchanged. A vocabulary
    without bytes has no other way to say it than a space.
    """
    if not processor.is_byte(processor.piece_to_id("<0xE2>")):
        return list(processor.encode(text))
    stand_in = next(
        character
        for character in map(chr, range(0x10FFFD, 0, -1))
        if character not in text and processor.piece_to_id(character) == UNK
    )
    ids: list[int] = processor.encode(text.replace(SPACE, stand_in))
    old, new = (
        [processor.piece_to_id(f"<0x{byte:02X}>") for byte in character.encode()]
        for character in (stand_in, SPACE)
    )
    exchanged: list[int] = []
    at = 0
    while at < len(ids):
        found = ids[at : at + len(old)] == old
        exchanged += new if found else ids[at : at + 1]
        at += len(old) if found else 1
    return exchanged


def _decode(processor: Any, ids: Sequence[int]) -> str:
    pad = _pad(processor)
    said = takewhile(lambda i: i != EOS, (int(i) for i in ids))
    return str(processor.decode([i for i in said if i != pad]))


def _pieces(processor: Any, ids: Sequence[int]) -> list[str]:
    pad = _pad(processor)
    return [PAD if i == pad else processor.id_to_piece(i) for i in ids]


def _learn(lines: Iterable[str], config: TextConfig) -> bytes:
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=_never_empty(lines),
            model_writer=model,
            model_type=config.subwords,
            vocab_size=config.vocab_size - 1,
            character_coverage=config.character_coverage,
            split_digits=config.split_digits,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            unk_id=UNK,
            eos_id=EOS,
            bos_id=-1,
            pad_id=-1,
            max_sentence_length=1 << 16,
            num_threads=1,  # the result of unigram depends on the number
            minloglevel=3,
        )
    except (RuntimeError, OSError) as error:
        text = str(error)
        if "Vocabulary size too high" in text:
            largest = int("".join(c for c in text.split("<=")[1].split(".")[0] if c.isdigit())) + 1
            raise HeadwayError(
                f"text.vocab_size = {config.vocab_size} is more than this text has pieces for:"
                f" set it to {largest} or less"
            ) from None
        if "Vocabulary size is smaller than required_chars" in text or "smaller than" in text:
            raise HeadwayError(
                f"text.vocab_size = {config.vocab_size} is less than the characters of this text"
                " and the 256 bytes need: set it higher, or text.character_coverage lower"
            ) from None
        raise HeadwayError(f"no subwords could be learned: {text.splitlines()[0]}") from None
    return model.getvalue()


def _never_empty(lines: Iterable[str]) -> Iterator[str]:
    """Pass the lines on; sentencepiece dies on none at all.

    Raises:
        HeadwayError: If there is no line with text.
    """
    some = False
    for line in lines:
        if line:
            some = True
            yield line
    if not some:
        raise HeadwayError("no training pairs are left to learn subwords from")
