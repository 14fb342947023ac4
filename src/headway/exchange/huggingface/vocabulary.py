"""The vocabulary of a Marian directory, read: two sentencepiece models and the numbers of their pieces."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.exchange.sentencepiece_file import SentencePieceFile
from headway.exchange.weights_file import read_object
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import PAD

EOS, UNK = "</s>", "<unk>"
MOST_UNNAMED = 1024  # rows of an embedding that vocab.json does not name


@dataclass(frozen=True)
class Entries:
    """What one side's vocabulary has.

    Attributes:
        names: By Headway's ids: ``<unk>``, ``</s>``, the others in their order, ``<pad>``.
        ids: [V], which number of theirs each has.
    """

    names: list[str]
    ids: Tensor


def read_entries(
    path: Path, settings: Mapping[str, Any], sizes: tuple[int, int], *, separate: bool
) -> tuple[Entries, Entries]:
    """Read the entries of source and target.

    Args:
        path: The directory.
        settings: Its config.json.
        sizes: Of both sides, as config.json says.
        separate: Whether each side has its own.

    Raises:
        HeadwayError: Naming the file that says what Headway cannot.
    """
    config = path / "config.json"
    pad, start = settings.get("pad_token_id"), settings.get("decoder_start_token_id")
    if pad != start:
        raise HeadwayError(
            f"{config}: decoder_start_token_id = {start}, but Headway's decoder starts from"
            f" {PAD}, pad_token_id = {pad}"
        )
    if not separate and sizes[0] != sizes[1]:
        raise HeadwayError(
            f"{config}: vocab_size = {sizes[0]} and decoder_vocab_size = {sizes[1]}, but"
            " tokenizer_config.json does not say separate_vocabs"
        )
    source = _entries(path / "vocab.json", settings, sizes[0])
    return source, _entries(path / "target_vocab.json", settings, sizes[1]) if separate else source


def make_tokenizer(path: Path, entries: tuple[Entries, Entries]) -> tuple[Tokenizer, str]:
    """Make a tokenizer of ``source.spm`` and ``target.spm``.

    Returns:
        It, and how it cuts: unigram or bpe.

    Raises:
        HeadwayError: Naming the file that is no sentencepiece model of these entries.
    """
    models, ways = [], []
    for side, known in zip(("source", "target"), entries, strict=True):
        file = path / f"{side}.spm"
        model = SentencePieceFile(file)
        try:
            ways.append(model.algorithm)
            models.append(model.reordered(known.names))
            made = Tokenizer(models[-1])
            # <pad> stands behind the entries only if sentencepiece understood all of them.
            right = made.source_vocab_size == len(known.names) and made.encode_source([""]) == [[1]]
        except (ValueError, RuntimeError, IndexError) as error:
            reason = str(error).splitlines()[0] if str(error) else "damaged"
            raise HeadwayError(f"{file}: not a sentencepiece model: {reason}") from None
        if not right:
            raise HeadwayError(f"{file}: not a sentencepiece model of the vocabulary beside it")
    joint = models[0] == models[1]
    return Tokenizer(models[0], None if joint else models[1]), ways[1]


def _entries(file: Path, settings: Mapping[str, Any], size: int) -> Entries:
    numbers = read_object(file)
    names = {number: name for name, number in numbers.items() if type(number) is int}
    if len(names) != len(numbers) or not all(0 <= number < size for number in names):
        raise HeadwayError(
            f"{file}: must give each entry a number of its own, from 0 to {size - 1}"
        )
    if size - len(names) > MOST_UNNAMED:
        raise HeadwayError(f"{file}: {len(names)} entries, but config.json says {size}")
    pad, eos, unk = settings.get("pad_token_id"), numbers.get(EOS), numbers.get(UNK)
    if (
        type(pad) is not int
        or not 0 <= pad < size
        or names.get(pad, PAD) != PAD
        or numbers.get(PAD, pad) != pad
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
    return Entries([*spelled, PAD], torch.tensor(ids))
