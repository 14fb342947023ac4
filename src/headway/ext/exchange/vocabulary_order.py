"""The entries of a foreign vocabulary in Headway's order, and a sentencepiece model with its pieces in this order.

Marian keeps in two files what Headway keeps in one: how text is split (``source.spm``) and which id a
piece has (``vocab.json``). A sentencepiece model is a list of pieces, each with a score and a type, and
the order of the pieces does not change how text is split. So an import puts the pieces in the order of
the vocabulary. An entry that is no piece becomes a piece of a type that no text is split into. A piece
that is no entry comes after ``<pad>``, where `headway.text.vocabulary` reads it as ``<unk>``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text import PAD, SentencePieceFile, Tokenizer

ADDED = -1  # the row of an entry that the original does not have


@dataclass(frozen=True)
class Order:
    """A vocabulary in Headway's order: ``<unk>``, ``</s>``, the other entries, ``<pad>``.

    Attributes:
        names: The entries.
        rows: The original row of each entry; that of ``<pad>`` may be `ADDED`.
    """

    names: list[str]
    rows: list[int]


def make_order(entries: Sequence[str], unk: int, eos: int, pad: int) -> Order:
    """Put a vocabulary into Headway's order.

    Args:
        entries: The original's, in the order of its ids; an ordinary one called like a special one gets another name.
        unk: The row of the entry for unknown text.
        eos: The row of the entry at the end of a text.
        pad: The row of the entry from which the decoder starts; `ADDED` if it has to be added.
    """
    special = unk, eos, pad
    others = [row for row in range(len(entries)) if row not in special]
    names, taken = ["<unk>", "</s>"], {"<unk>", "</s>", PAD}
    for row in others:
        name = entries[row]
        while name in taken:
            name = f"<{name}>"
        names.append(name)
        taken.add(name)
    return Order([*names, PAD], [unk, eos, *others, pad])


def make_tokenizer(
    files: Sequence[Path],
    orders: tuple[Order, Order],
    max_positions: int,
    *,
    ends_texts: bool = True,
) -> tuple[Tokenizer, TextConfig]:
    """Make a tokenizer, and the settings that describe it.

    Args:
        files: The sentencepiece model of both sides, or of each.
        orders: Of source and target.
        max_positions: Of the model.
        ends_texts: Whether ``</s>`` stands behind each source; see `headway.text.Tokenizer.ends_sources`.

    Raises:
        HeadwayError: As `order_pieces` does.
    """
    models = [SentencePieceFile(file) for file in (files[0], files[-1])]
    source, target = (
        order_pieces(model, order, ends_texts=ends_texts)
        for model, order in zip(models, orders, strict=True)
    )
    tokenizer = Tokenizer(source, None if source == target else target)
    text = TextConfig(
        vocab_size=tokenizer.target_vocab_size,
        joint_vocab=tokenizer.joint,
        subwords=models[1].algorithm,
        max_tokens=min(TextConfig().max_tokens, max_positions),
    )
    return tokenizer, text


def check_pieces(file: SentencePieceFile, entries: Iterable[str]) -> None:
    """Check that a sentencepiece model is that of a vocabulary, and not, say, of another language.

    A vocabulary may lack pieces, and it may have the pieces of two models. So one of the two must have half
    of the other. Names such as ``<unk>`` and ``<0x0A>`` do not count, because most models have them.

    Raises:
        HeadwayError: If they have less in common.
    """
    own, known = (
        {name for name in names if not (name.startswith("<") and name.endswith(">"))}
        for names in (file.pieces, entries)
    )
    if len(own & known) < min(len(own), len(known)) / 2:
        raise HeadwayError(f"{file.path}: its pieces are not those of the vocabulary")


def order_pieces(file: SentencePieceFile, order: Order, *, ends_texts: bool = True) -> bytes:
    """Return a sentencepiece model with its pieces in an order; one that has this order already keeps its bytes.

    Args:
        file: The model.
        order: The order.
        ends_texts: Whether ``</s>`` stands behind each source; see `headway.text.Tokenizer.ends_sources`.

    Raises:
        HeadwayError: If it is damaged, or not the model of this vocabulary; see `check_pieces`.
    """
    check_pieces(file, order.names)
    is_own = ends_texts and [*file.pieces, PAD] == order.names
    model = file.content if is_own else _reorder(file, order.names, ends_texts)
    try:
        Tokenizer(model).encode_source([""])
    except (ValueError, RuntimeError, IndexError) as error:
        reason = str(error).splitlines()[0] if str(error) else "damaged"
        raise HeadwayError(f"{file.path}: not a sentencepiece model: {reason}") from None
    return model


def _reorder(file: SentencePieceFile, entries: Sequence[str], ends_texts: bool) -> bytes:
    """Return a model that splits text as a file's does, into the ids of a vocabulary.

    Args:
        file: The model.
        entries: The vocabulary in the order of its ids: ``<unk>``, ``</s>``, ..., ``<pad>``.
        ends_texts: Whether ``</s>`` stands behind each source.

    Returns:
        A serialized sentencepiece model.
    """
    proto = type(file.proto)()
    proto.CopyFrom(file.proto)
    del proto.pieces[:]
    piece_type = proto.SentencePiece
    # BPE would merge through an unused piece and split differently; it ignores control pieces.
    absent = piece_type.UNUSED if file.algorithm == "unigram" else piece_type.CONTROL
    own = {piece.piece: piece for piece in file.proto.pieces}
    for entry in entries:
        known = own.pop(entry, None)
        score, kind = (0.0, absent) if known is None else (known.score, known.type)
        proto.pieces.add(piece=entry, score=score, type=kind)
    proto.pieces[0].type = piece_type.UNKNOWN
    proto.pieces[1].type = proto.pieces[len(entries) - 1].type = piece_type.CONTROL
    if not ends_texts:
        proto.pieces[1].type = piece_type.UNUSED
    for piece in own.values():
        proto.pieces.add(piece=piece.piece, score=piece.score, type=piece.type)
    return bytes(proto.SerializeToString())
