"""Reading CTranslate2 Transformer directories; CTranslate2 itself is not needed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headway.config import Config, ModelConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.ctranslate2.entries import (
    find_order,
    find_pad,
    read_entries,
    read_start,
    reorder_weights,
)
from headway.ext.exchange.ctranslate2.layers import convert_variables
from headway.ext.exchange.imported_model import build_model
from headway.ext.exchange.json_file import read_json_object
from headway.ext.exchange.order import ADDED, Order, order_pieces
from headway.ext.exchange.shared_values import UNKNOWN_LANGUAGE
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
    settings = _read_settings(settings_file)
    source, target = (read_entries(directory, side) for side in ("source", "target"))
    variables = read_variables(file)
    entries = {"source": len(source), "target": len(target)}
    shape, weights = convert_variables(variables, settings, entries, file)
    if source != target and shape.tying == "three-way":
        shape = replace(shape, tying="target")
        weights["target_embedding.weight"] = weights["source_embedding.weight"]
    flag = variables.get("decoder/start_from_zero_embedding", torch.tensor(0))
    start = read_start(settings, bool(flag.any()), settings_file)
    if not start.is_zero and start.name not in target:
        raise HeadwayError(
            f"{settings_file}: decoder_start_token = {start.name[:40]!r} is not in the vocabulary"
        )
    pad = find_pad(target, weights, start)
    orders = (
        find_order(source, settings, pad, directory),
        find_order(target, settings, pad, directory),
    )
    start_row = ADDED if start.is_zero else target.index(start.name)
    shape, weights = reorder_weights(shape, weights, orders, start_row)
    ends_sources = bool(settings.get("add_source_eos"))
    tokenizer, text = _make_tokenizer(directory, orders, shape, ends_sources)
    config = Config(text=text, model=shape)
    found = languages or (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)
    pairs = _find_pairs(settings, tokenizer, found)
    facts = StoredConfig(config, found, pairs, "another program")
    model = build_model(directory, tokenizer, facts, weights, file)
    return replace(model, path=path or directory, languages=languages or model.languages)


def _read_settings(file: Path) -> dict[str, Any]:
    values = read_json_object(file, MAX_CONFIG_BYTES)
    adds_other_bos = values.get("add_source_bos") and not _find_symbol(values)
    if adds_other_bos:
        raise HeadwayError(
            f"{file}: Headway's sources start with nothing but a language; here add_source_bos = True"
        )
    return values


def _find_symbol(settings: dict[str, Any]) -> str:
    """Return the symbol of the target language that CTranslate2 puts before each source, or ''."""
    symbol = settings.get("bos_token") if settings.get("add_source_bos") else ""
    return symbol if isinstance(symbol, str) and is_language(symbol) else ""


def _find_pairs(
    settings: dict[str, Any], tokenizer: Tokenizer, languages: Languages
) -> tuple[Languages, ...]:
    """Return the pair of languages of a model whose sources need a symbol."""
    if not (symbol := _find_symbol(settings)):
        return ()
    [target] = check_symbols([symbol.removeprefix(">>").removesuffix("<<")], tokenizer)
    return ((languages[0], target),)


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
