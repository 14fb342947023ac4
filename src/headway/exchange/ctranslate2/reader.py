"""CTranslate2 Transformer directories read into Headway models; CTranslate2 itself is not needed.

The ids are put in Headway's order: ``<unk>``, ``</s>``, the rest, and last, as ``<pad>``, what the
decoder starts from. Where that is no entry of its own, one is added that no text is ever given.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.config import Config, ModelConfig, TextConfig
from headway.errors import HeadwayError
from headway.exchange import sentencepiece_file
from headway.exchange.assembly import assemble
from headway.exchange.ctranslate2.binary import read_variables
from headway.exchange.ctranslate2.layers import read_layers
from headway.inference.directory import MAX_CONFIG_BYTES, Model, read_config
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import PAD

LARGEST = 1 << 27  # bytes of a vocabulary
BESIDE = "headway.json"  # what an export of ours puts beside it
UNKNOWN = "und"  # a language nobody named
NEVER = -10000.0  # a logit that is no chance in any precision
JOINT = ("tokenizer.model", "sentencepiece.model", "spm.model")
PAIRS = (("source.spm", "target.spm"), ("source.model", "target.model"))


class Order(NamedTuple):
    """A vocabulary in Headway's order.

    Attributes:
        names: The entries, ``<pad>`` last.
        rows: Where each was; the last is -1 if it was added.
    """

    names: list[str]
    rows: list[int]


def read(path: Path, named: Path | None = None, languages: tuple[str, str] | None = None) -> Model:
    """Read a directory: ``model.bin``, ``config.json``, vocabularies, and sentencepiece models.

    Args:
        path: The directory; the sentencepiece models may lie in the one above it.
        named: What to call it in the model, if it is another's inside.
        languages: Codes of source and target, where they are known.

    Raises:
        HeadwayError: Naming the file that is missing, foreign or damaged, or what it holds that a
            Headway model has not.
    """
    file = path / "model.bin"
    settings = _settings(path / "config.json")
    entries = [_entries(path, side) for side in ("source", "target")]
    variables = read_variables(file)
    shape, values = read_layers(variables, settings, file)
    for side, names in zip(("source", "target"), entries, strict=True):
        rows = getattr(shape, f"{side}_vocab_size")
        if rows != len(names):
            raise HeadwayError(f"{file}: {rows} {side} embeddings for {len(names)} entries")
    zero = bool(variables.get("decoder/start_from_zero_embedding", torch.tensor(0)).any())
    start = _start(settings, path / "config.json")
    last = _last(values, entries[1], start, zero)
    orders = [_order(names, settings, last, path) for names in entries]
    if entries[0] != entries[1] and shape.tying == "three-way":
        shape = replace(shape, tying="target")
        values["target_embedding.weight"] = values["source_embedding.weight"]
    shape, values = _in_order(shape, values, orders, "" if zero else start, entries[1])
    tokenizer, text = _tokenizer(path, orders, shape)
    config = Config(text=text, model=shape)
    if (path / BESIDE).is_file():
        known, spoken = read_config(path, BESIDE)
        languages = languages or spoken
        silent = ["dropout", "attention_dropout", "feed_forward_dropout"]
        if shape.positions != "learned":
            silent.append("max_positions")  # the table that is stored is longer
        shape = replace(shape, **{name: getattr(known.model, name) for name in silent})
        config = replace(config, model=shape, text=known.text, search=known.search)
    transformer = assemble(shape, values, file)
    return Model(transformer, tokenizer, config, languages or (UNKNOWN, UNKNOWN), named or path)


def _settings(file: Path) -> dict[str, Any]:
    values = _json(file, MAX_CONFIG_BYTES)
    if not isinstance(values, dict):
        raise HeadwayError(f"{file}: must hold an object")
    if values.get("add_source_bos") or not values.get("add_source_eos"):
        raise HeadwayError(
            f"{file}: Headway's sources end in </s> and begin with nothing; here add_source_eos ="
            f" {bool(values.get('add_source_eos'))}, add_source_bos ="
            f" {bool(values.get('add_source_bos'))}"
        )
    return values


def _json(file: Path, most: int) -> Any:
    if not file.is_file():
        raise HeadwayError(f"{file.parent}: no {file.name}")
    if file.stat().st_size > most:
        raise HeadwayError(f"{file}: larger than any ({most} bytes)")
    try:
        return json.loads(file.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: not JSON: {str(error).splitlines()[0]}") from None


def _entries(path: Path, side: str) -> list[str]:
    """Read a vocabulary, as JSON or as lines, shared or a side's own."""
    for name in ("shared", side):
        file = path / f"{name}_vocabulary.json"
        if file.is_file():
            found = _json(file, LARGEST)
            break
        file = path / f"{name}_vocabulary.txt"
        if file.is_file() and file.stat().st_size <= LARGEST:
            found = file.read_text("utf-8", "replace").removesuffix("\n").split("\n")
            break
    else:
        raise HeadwayError(f"{path}: no shared_vocabulary.json, and no {side}_vocabulary.json")
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        raise HeadwayError(f"{file}: must be a list of texts")
    if len(set(found)) != len(found):
        raise HeadwayError(f"{file}: holds an entry twice")
    return found


def _start(settings: Mapping[str, Any], file: Path) -> str:
    start = settings.get("decoder_start_token", settings.get("bos_token", "<s>"))
    if not isinstance(start, str):
        raise HeadwayError(
            f"{file}: decoder_start_token = {start!r}: a model of many languages, which the caller"
            " chooses; Headway has no such"
        )
    return start


def _last(values: Mapping[str, Tensor], entries: list[str], start: str, zero: bool) -> str:
    """Return the entry that can stand for ``<pad>``; empty: one has to be added."""
    if zero:
        table = values.get("target_embedding.weight", values["source_embedding.weight"])
        return entries[-1] if entries[-1] in (start, PAD) and not table[-1].any() else ""
    return start if start != "</s>" else ""


def _order(names: list[str], settings: Mapping[str, Any], last: str, path: Path) -> Order:
    front = [settings.get("unk_token", "<unk>"), settings.get("eos_token", "</s>")]
    place = {name: row for row, name in enumerate(names)}
    for name in front:
        if name not in place:
            raise HeadwayError(f"{path}: the vocabulary has no {name!r}")
    if last and last not in place:  # the source's, if it is another's
        last = ""
    rows = [place[front[0]], place[front[1]]]
    rows += [row for name, row in place.items() if name not in (*front, last)]
    rows.append(place[last] if last else -1)
    taken = {"<unk>", "</s>", PAD}
    ordered = ["<unk>", "</s>", *(names[row] for row in rows[2:-1]), PAD]
    for at, name in enumerate(ordered[2:-1], 2):
        while ordered[at] in taken:
            ordered[at] = f"<{ordered[at]}>"
        if ordered[at] != name:
            taken.add(ordered[at])
    return Order(ordered, rows)


def _in_order(
    shape: ModelConfig,
    values: dict[str, Tensor],
    orders: list[Order],
    start: str,
    entries: list[str],
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Put the rows of the vocabularies in order; an added one is never put out.

    Args:
        shape: With the sizes before.
        values: With the rows before.
        orders: Of source and target.
        start: The entry the decoder starts from; empty: from the zero vector.
        entries: The target's, before.
    """
    found = dict(values)
    sides = {
        "source_embedding.weight": orders[0],
        "target_embedding.weight": orders[1],
        "output.weight": orders[1],
    }
    for name, order in sides.items():
        if name not in values:
            continue
        rows = values[name][torch.tensor(order.rows)]
        if order.rows[-1] < 0:
            rows[-1] = 0
            reads = name == "target_embedding.weight" or shape.tying == "three-way"
            if start and reads:
                rows[-1] = values[name][entries.index(start)]
        found[name] = rows
    bias = values.get("output.bias")
    if bias is not None or orders[1].rows[-1] < 0:
        bias = torch.zeros(len(entries)) if bias is None else bias
        rows = bias[torch.tensor(orders[1].rows)]
        if orders[1].rows[-1] < 0:
            rows[-1] = NEVER
        found["output.bias"] = rows
    shape = replace(
        shape,
        source_vocab_size=len(orders[0].names),
        target_vocab_size=len(orders[1].names),
        output_bias="output.bias" in found,
    )
    return shape, found


def _tokenizer(path: Path, orders: list[Order], shape: ModelConfig) -> tuple[Tokenizer, TextConfig]:
    files = _pieces(path)
    models = []
    for file, order in zip(files, orders, strict=False):
        model = sentencepiece_file.read_model(file)
        try:
            kind = sentencepiece_file.algorithm(model)
            names = [piece.text for piece in sentencepiece_file.pieces(model)]
            models.append(
                model
                if [*names, PAD] == order.names
                else sentencepiece_file.reordered(model, order.names)
            )
        except (ValueError, IndexError) as error:
            raise HeadwayError(f"{file}: not a sentencepiece model: {error}") from None
    if len(files) == 1 and orders[0].names != orders[1].names:
        models.append(
            sentencepiece_file.reordered(sentencepiece_file.read_model(files[0]), orders[1].names)
        )
    try:
        tokenizer = Tokenizer(*models)
    except RuntimeError:
        raise HeadwayError(f"{files[0]}: not a sentencepiece model, or damaged") from None
    sizes = tokenizer.source_vocab_size, tokenizer.target_vocab_size
    if sizes != (shape.source_vocab_size, shape.target_vocab_size):
        raise HeadwayError(f"{files[0]}: its pieces are not those of the vocabulary")
    text = TextConfig(
        vocab_size=sizes[1],
        joint_vocab=tokenizer.joint,
        subwords="bpe" if kind == "bpe" else "unigram",
        max_tokens=min(256, shape.max_positions),
    )
    return tokenizer, text


def _pieces(path: Path) -> list[Path]:
    """Find the sentencepiece models: one, or one a side."""
    for place in (path, path.parent):
        for name in JOINT:
            if (place / name).is_file():
                return [place / name]
        for pair in PAIRS:
            if all((place / name).is_file() for name in pair):
                return [place / name for name in pair]
    raise HeadwayError(
        f"{path}: no sentencepiece model: put tokenizer.model, or source.spm and target.spm there"
    )
