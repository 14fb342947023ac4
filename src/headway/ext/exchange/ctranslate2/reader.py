"""Reading CTranslate2 Transformer directories; CTranslate2 itself is not needed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headway.config import Config
from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.ctranslate2.entries import find_order, find_start, read_entries
from headway.ext.exchange.ctranslate2.layers import read_layers, read_tables
from headway.ext.exchange.ctranslate2.variables import Variables
from headway.ext.exchange.imported_model import build_model
from headway.ext.exchange.json_file import read_json_object
from headway.ext.exchange.named_languages import UNKNOWN_LANGUAGE
from headway.ext.exchange.tables import store_tables
from headway.ext.exchange.vocabulary_order import make_tokenizer
from headway.text import Languages, check_symbols, is_language
from headway.translation import MAX_CONFIG_BYTES, Model, StoredConfig

JOINT = ("tokenizer.model", "sentencepiece.model", "spm.model")
PAIRS = (("source.spm", "target.spm"), ("source.model", "target.model"))


def read(directory: Path, languages: Languages | None = None) -> Model:
    """Read a directory: ``model.bin``, ``config.json``, vocabularies, and sentencepiece models.

    Args:
        directory: The directory; the sentencepiece models may be in its parent.
        languages: Codes of source and target, if they are known.

    Raises:
        HeadwayError: Naming the file that is missing or damaged, or the part of the model that
            Headway does not have.
    """
    file, settings_file = directory / "model.bin", directory / "config.json"
    settings = read_json_object(settings_file, MAX_CONFIG_BYTES)
    symbol = _find_symbol(settings, settings_file)
    source, target = (read_entries(directory, side) for side in ("source", "target"))
    variables = Variables(read_variables(file), file)
    tables = read_tables(variables, {"source": len(source), "target": len(target)})
    bias = None
    if variables.find("decoder/projection/bias") is not None:
        bias = variables.get("decoder/projection/bias", (len(target),))
    is_zero = bool(variables.get_number("decoder/start_from_zero_embedding", 0))
    pad, start_row = find_start(settings, target, tables[1], is_zero, settings_file)
    orders = (
        find_order(source, settings, pad, directory),
        find_order(target, settings, pad, directory),
    )
    shape, weights = read_layers(variables, settings, *tables[:2])
    shape, stored = store_tables(shape, tables, bias, orders, start_row)
    weights |= stored
    tokenizer, text = make_tokenizer(
        _find_sentencepiece(directory),
        orders,
        shape.max_positions,
        ends_texts=bool(settings.get("add_source_eos")),
    )
    found = languages or (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)
    pairs: tuple[Languages, ...] = ()
    if symbol:
        [code] = check_symbols([symbol.removeprefix(">>").removesuffix("<<")], tokenizer)
        pairs = ((found[0], code),)
    facts = StoredConfig(Config(text=text, model=shape), found, pairs, "another program")
    model = build_model(directory, tokenizer, facts, weights, file)
    return replace(model, languages=languages or model.languages)


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
