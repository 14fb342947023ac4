"""The entries of a Marian vocabulary, put into Headway's order, and the tokenizer that they need."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.config import Subwords
from headway.errors import HeadwayError
from headway.ext.exchange.json_file import read_json_object
from headway.ext.exchange.order import Order, order_pieces
from headway.text import PAD, SentencePieceFile, Tokenizer

EOS, UNK = "</s>", "<unk>"
MAX_UNNAMED = 1024  # rows of an embedding that vocab.json does not name


def read_orders(
    path: Path, settings: Mapping[str, Any], sizes: tuple[int, int], *, is_separate: bool
) -> tuple[Order, Order]:
    """Read the vocabularies of source and target.

    Args:
        path: The directory.
        settings: The content of config.json.
        sizes: The sizes of both vocabularies in config.json.
        is_separate: Whether each side has its own vocabulary.

    Raises:
        HeadwayError: Naming the file that is damaged or does not fit config.json.
    """
    config = path / "config.json"
    pad, start = settings.get("pad_token_id"), settings.get("decoder_start_token_id")
    if pad != start:
        raise HeadwayError(
            f"{config}: decoder_start_token_id = {start}, but Headway's decoder starts from"
            f" {PAD}, pad_token_id = {pad}"
        )
    if not is_separate and sizes[0] != sizes[1]:
        raise HeadwayError(
            f"{config}: vocab_size = {sizes[0]} and decoder_vocab_size = {sizes[1]}, but"
            " tokenizer_config.json does not say separate_vocabs"
        )
    source = _read_side(path / "vocab.json", settings, sizes[0])
    if not is_separate:
        return source, source
    return source, _read_side(path / "target_vocab.json", settings, sizes[1])


def _read_side(file: Path, settings: Mapping[str, Any], size: int) -> Order:
    id_of = read_json_object(file)
    names = {number: name for name, number in id_of.items() if type(number) is int}
    if len(names) != len(id_of) or not all(0 <= number < size for number in names):
        raise HeadwayError(
            f"{file}: must give each entry a number of its own, from 0 to {size - 1}"
        )
    if size - len(names) > MAX_UNNAMED:
        raise HeadwayError(f"{file}: {len(names)} entries, but config.json says {size}")
    pad, eos, unk = settings.get("pad_token_id"), id_of.get(EOS), id_of.get(UNK)
    if (
        type(pad) is not int
        or not 0 <= pad < size
        or names.get(pad, PAD) != PAD
        or id_of.get(PAD, pad) != pad
    ):
        raise HeadwayError(f"{file}: {PAD} is not entry {pad}, as config.json says")
    if unk is None or eos is None or eos != settings.get("eos_token_id"):
        raise HeadwayError(
            f"{file}: must have {UNK} and, as entry {settings.get('eos_token_id')}, {EOS}"
        )
    ids = [unk, eos, *sorted(set(range(size)) - {unk, eos, pad}), pad]
    spelled = [names.get(number, f"<unnamed{number}>") for number in ids[:-1]]
    if len(set(spelled)) < len(spelled):
        raise HeadwayError(f"{file}: has entries called <unnamed...>")
    return Order([*spelled, PAD], ids)


def make_tokenizer(path: Path, orders: tuple[Order, Order]) -> tuple[Tokenizer, Subwords]:
    """Make a tokenizer of ``source.spm`` and ``target.spm``.

    Args:
        path: The directory.
        orders: The result of `read_orders`.

    Returns:
        The tokenizer, and how it splits text.

    Raises:
        HeadwayError: Naming the file that is no sentencepiece model of these entries.
    """
    files = [SentencePieceFile(path / f"{side}.spm") for side in ("source", "target")]
    source, target = (order_pieces(file, side) for file, side in zip(files, orders, strict=True))
    return Tokenizer(source, None if source == target else target), files[1].algorithm
