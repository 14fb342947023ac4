"""The entries of a foreign vocabulary in Headway's order, and a sentencepiece model with its pieces in this order.

Marian keeps in two files what Headway keeps in one: how text is split (``source.spm``) and which id a
piece has (``vocab.json``). A sentencepiece model is a list of pieces, each with a score and a type, and
the order of the pieces does not change how text is split. So an import puts the pieces in the order of
the vocabulary. An entry that is no piece becomes a piece of a type that no text is split into. A piece
that is no entry comes after ``<pad>``, where `headway.text.vocabulary` reads it as ``<unk>``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


def order_pieces(
    file: SentencePieceFile, order: Order, *, keeps_own: bool = False, ends_texts: bool = True
) -> bytes:
    """Return a sentencepiece model with its pieces in an order.

    Args:
        file: The model.
        order: The order.
        keeps_own: Whether a model that has this order already keeps its bytes.
        ends_texts: Whether ``</s>`` stands behind each source; see `headway.text.Tokenizer.ends_sources`.

    Raises:
        HeadwayError: If it is damaged, or not the model of this vocabulary; see `check_pieces`.
    """
    check_pieces(file, order.names)
    is_own = keeps_own and ends_texts and [*file.pieces, PAD] == order.names
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
