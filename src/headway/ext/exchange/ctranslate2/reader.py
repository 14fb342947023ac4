"""Reading CTranslate2 Transformer directories; CTranslate2 itself is not needed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headway.config import Config, ModelConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.ctranslate2.entries import (
    find_order,
    find_start,
    read_entries,
    reorder_weights,
)
from headway.ext.exchange.ctranslate2.layers import convert_variables
from headway.ext.exchange.imported_model import build_model
from headway.ext.exchange.json_file import read_json_object
from headway.ext.exchange.named_languages import UNKNOWN_LANGUAGE
from headway.ext.exchange.order import Order, order_pieces
from headway.text import Languages, SentencePieceFile, Tokenizer, check_symbols, is_language
from headway.translation import MAX_CONFIG_BYTES, Model, StoredConfig

JOINT = ("tokenizer.model", "sentencepiece.model", "spm.model")
PAIRS = (("source.spm", "target.spm"), ("source.model", "target.model"))


def read(
    directory: Path, path: Path | None = None, languages: tuple[str, str] | None = None
) -> Model:
    """Read a directory: ``model.bin``, ``config.json``, vocabularies, and sentencepiece models.

    Args:
        directory: The directory; the sentencepiece models may be in its parent.
        path: The path that the model reports; the directory by default.
        languages: Codes of source and target, if they are known.

    Raises:
        HeadwayError: Naming the file that is missing or damaged, or the part of the model that
            Headway does not have.
    """
    file, settings_file = directory / "model.bin", directory / "config.json"
    settings = read_json_object(settings_file, MAX_CONFIG_BYTES)
    symbol = _find_symbol(settings, settings_file)
    source, target = (read_entries(directory, side) for side in ("source", "target"))
    variables = read_variables(file)
    entries = {"source": len(source), "target": len(target)}
    shape, weights = convert_variables(variables, settings, entries, file)
    if source != target and shape.tying == "three-way":
        shape = replace(shape, tying="target")
        weights["target_embedding.weight"] = weights["source_embedding.weight"]
    is_zero = bool(variables.get("decoder/start_from_zero_embedding", torch.tensor(0)).any())
    table = weights.get("target_embedding.weight", weights["source_embedding.weight"])
    pad, start_row = find_start(settings, target, table, is_zero, settings_file)
    orders = (
        find_order(source, settings, pad, directory),
        find_order(target, settings, pad, directory),
    )
    shape, weights = reorder_weights(shape, weights, orders, start_row)
    ends_sources = bool(settings.get("add_source_eos"))
    tokenizer, text = _make_tokenizer(directory, orders, shape, ends_sources)
    found = languages or (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)
    pairs: tuple[Languages, ...] = ()
    if symbol:
        [code] = check_symbols([symbol.removeprefix(">>").removesuffix("<<")], tokenizer)
        pairs = ((found[0], code),)
    facts = StoredConfig(Config(text=text, model=shape), found, pairs, "another program")
    model = build_model(directory, tokenizer, facts, weights, file)
    return replace(model, path=path or directory, languages=languages or model.languages)


def _find_symbol(settings: Mapping[str, Any], file: Path) -> str:
    """Return the symbol of the target language that CTranslate2 puts before each source, or an empty string.

    Raises:
        HeadwayError: If it puts something else there.
    """
    if not settings.get("add_source_bos"):
        return ""
    symbol = settings.get("bos_token")
    if isinstance(symbol, str) and is_language(symbol):
        return symbol
    raise HeadwayError(
        f"{file}: Headway's sources start with nothing but a language; here add_source_bos = True"
    )


def _make_tokenizer(
    directory: Path, orders: tuple[Order, Order], shape: ModelConfig, ends_sources: bool
) -> tuple[Tokenizer, TextConfig]:
    files = [SentencePieceFile(path) for path in _find_sentencepiece(directory)]
    source, target = (
        order_pieces(file, order, keeps_own=True, ends_texts=ends_sources)
        for file, order in zip((files[0], files[-1]), orders, strict=True)
    )
    is_joint = len(files) == 1 and orders[0].names == orders[1].names
    tokenizer = Tokenizer(source, None if is_joint else target)
    text = TextConfig(
        vocab_size=tokenizer.target_vocab_size,
        joint_vocab=tokenizer.joint,
        subwords=files[-1].algorithm,
        max_tokens=min(256, shape.max_positions),
    )
    return tokenizer, text


def _find_sentencepiece(directory: Path) -> list[Path]:
    """Find the sentencepiece model of both sides, or one a side."""
    for folder in (directory, directory.parent):
        for name in JOINT:
            if (folder / name).is_file():
                return [folder / name]
        for pair in PAIRS:
            if all((folder / name).is_file() for name in pair):
                return [folder / name for name in pair]
    raise HeadwayError(
        f"{directory}: no sentencepiece model: put tokenizer.model, or source.spm and target.spm there"
    )
