"""Reading Marian directories of Hugging Face transformers, such as the OPUS-MT models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.config import Config
from headway.errors import HeadwayError
from headway.ext.exchange.huggingface.settings import (
    find_languages,
    read_flag,
    read_search,
    read_shape,
)
from headway.ext.exchange.huggingface.weights import expected_shapes, find_tables, from_marian
from headway.ext.exchange.imported_model import build_model
from headway.ext.exchange.json_file import read_json_object, read_optional_json_object
from headway.ext.exchange.vocabulary_order import Order, make_order, make_tokenizer
from headway.ext.exchange.weights_file import read_weights
from headway.text import PAD
from headway.translation import Model, StoredConfig

EOS, UNK = "</s>", "<unk>"
MAX_UNNAMED = 1024  # rows of an embedding that vocab.json does not name
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def read(path: Path) -> Model:
    """Read a Marian directory: of OPUS-MT, old or new, or an export of Headway.

    Raises:
        HeadwayError: Naming the file that is missing or damaged, or the setting that Headway does
            not support.
    """
    file = path / "config.json"
    values = read_json_object(file)
    if values.get("model_type") != "marian":
        raise HeadwayError(
            f"{file}: model_type = {values.get('model_type')!r:.40} must be 'marian'"
        )
    is_shared = read_flag(values, "share_encoder_decoder_embeddings", file)
    is_tied = read_flag(values, "tie_word_embeddings", file)
    shape = read_shape(values, file)
    about = read_optional_json_object(path / "tokenizer_config.json")
    sizes = shape.source_vocab_size, shape.target_vocab_size
    is_separate = about.get("separate_vocabs") is True
    orders = read_orders(path, values, sizes, is_separate=is_separate)
    pieces = path / "source.spm", path / "target.spm"
    tokenizer, text = make_tokenizer(pieces, orders, shape.max_positions)
    weights_file = next((path / name for name in WEIGHTS if (path / name).is_file()), None)
    if weights_file is None:
        raise HeadwayError(f"{path}: no {' and no '.join(WEIGHTS)}")
    weights = read_weights(weights_file, *expected_shapes(shape))
    tables = find_tables(weights, is_shared=is_shared, is_tied=is_tied, file=weights_file)
    shape, own = from_marian(shape, weights, tables, orders)
    config = Config(text=text, model=shape, search=read_search(path, values))
    facts = StoredConfig(config, find_languages(values, about), (), "Marian")
    return build_model(path, tokenizer, facts, own, weights_file)


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
    entries = [names.get(number, f"<unnamed{number}>") for number in range(size)]
    return make_order(entries, unk, eos, pad)
