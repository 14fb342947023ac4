"""The entries of a foreign vocabulary in Headway's order."""

from collections.abc import Iterable
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


def order_pieces(file: SentencePieceFile, order: Order, *, keeps_own: bool = False) -> bytes:
    """Return a sentencepiece model with its pieces in an order.

    Args:
        file: The model.
        order: The order.
        keeps_own: Whether a model that has this order already keeps its bytes.

    Raises:
        HeadwayError: If it is damaged, or not the model of this vocabulary; see `check_pieces`.
    """
    check_pieces(file, order.names)
    is_own = keeps_own and [*file.pieces, PAD] == order.names
    model = file.content if is_own else file.reordered(order.names)
    try:
        Tokenizer(model).encode_source([""])
    except (ValueError, RuntimeError, IndexError) as error:
        reason = str(error).splitlines()[0] if str(error) else "damaged"
        raise HeadwayError(f"{file.path}: not a sentencepiece model: {reason}") from None
    return model
