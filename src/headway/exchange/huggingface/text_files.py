"""The text side of a Marian directory: tokenizer files and configurations, for every kind of weights."""

import json
from pathlib import Path
from typing import Any

from headway.config import ModelConfig
from headway.exchange.huggingface.weights import EPSILON, NEVER, shared, tied
from headway.inference.directory import Model
from headway.text.tokenizer import Tokenizer

LONGEST = 1024  # rows of the position table, at least
TYPICAL = 20  # tokens of a sentence, for which the length penalty is matched


def write_text_side(model: Model, out: Path, precision: str) -> None:
    """Write all files of a Marian directory but the weights and the card.

    Args:
        model: Whose.
        out: A directory.
        precision: Of the weights, as torch names it.
    """
    entries = vocabularies(model.tokenizer)
    files: dict[str, Any] = {
        "config.json": _config(model, len(entries[0]), precision),
        "generation_config.json": _generation(model, len(entries[0])),
        "tokenizer_config.json": _tokenizer(model, entries),
        "vocab.json": _numbered(entries[0]),
    }
    if entries[0] != entries[1]:
        files["target_vocab.json"] = _numbered(entries[1])
    for name, value in files.items():
        (out / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    for side, pieces in zip(("source", "target"), model.tokenizer.models, strict=True):
        (out / f"{side}.spm").write_bytes(pieces)


def vocabularies(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Return the entries of source and target by their ids, as many of each, ``<pad>`` last."""
    source = tokenizer.source_pieces(range(tokenizer.source_pad))
    target = tokenizer.target_pieces(range(tokenizer.target_pad))
    pad = "<pad>"
    while pad in source or pad in target:  # the text it was learned from may have had that piece
        pad = f"<{pad}>"
    # transformers has one number for <pad> on both sides: the shorter side gets empty entries.
    size = max(len(source), len(target))
    found = [[*p, *(f"<empty{i}>" for i in range(len(p), size)), pad] for p in (source, target)]
    return found[0], found[1]


def matched_penalty(alpha: float) -> float:
    """Return the exponent of |Y| that grows as ((5 + |Y|) / 6)^alpha does, at a typical length."""
    return round(alpha * TYPICAL / (5 + TYPICAL), 2)


def notes(model: Model) -> list[str]:
    """Return what a user of transformers should know, and set for the same ranking."""
    search, shape, tokenizer = model.config.search, model.config.model, model.tokenizer
    found = [
        "length penalty: transformers divides by |Y|^length_penalty, the paper by ((5 + |Y|) / 6)^alpha;"
        f" alpha = {search.alpha:g} is nearest to length_penalty = {matched_penalty(search.alpha):g},"
        " which generation_config.json says",
        f"longest output: Headway allows source tokens + {search.max_extra}; set max_new_tokens",
        "text: transformers takes </s>, <pad> and >>xx<< in a text for control symbols, and U+2581 for"
        " a space",
    ]
    if tokenizer.source_vocab_size != tokenizer.target_vocab_size:
        fewer = "source" if tokenizer.source_vocab_size < tokenizer.target_vocab_size else "target"
        found.append(
            f"vocabularies: the {fewer} has empty entries at its end, as transformers wants two of one"
            f" size; on the target side their logits are {NEVER:g}"
        )
    if shape.d_embedding not in (0, shape.d_model):
        found.append(
            f"d_embedding = {shape.d_embedding}: multiplied out to {shape.d_model}, three matrices"
        )
    return found


def position_rows(shape: ModelConfig) -> int:
    """Return how many rows a position table is written with."""
    fixed = shape.positions != "sinusoidal"
    return shape.max_positions if fixed else max(LONGEST, shape.max_positions)


def _numbered(entries: list[str]) -> dict[str, int]:
    return {entry: number for number, entry in enumerate(entries)}


def _config(model: Model, size: int, precision: str) -> dict[str, Any]:
    shape = model.config.model
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "vocab_size": size,
        "decoder_vocab_size": size,
        "d_model": shape.d_model,
        "encoder_layers": shape.num_encoder_layers,
        "decoder_layers": shape.num_decoder_layers,
        "encoder_attention_heads": shape.num_heads,
        "decoder_attention_heads": shape.num_heads,
        "encoder_ffn_dim": shape.d_ff,
        "decoder_ffn_dim": shape.d_ff,
        "activation_function": shape.activation,
        "layer_norm_epsilon": EPSILON,
        "scale_embedding": shape.scale_embeddings,
        "static_position_embeddings": shape.positions == "sinusoidal",
        "max_position_embeddings": position_rows(shape),
        "pad_token_id": size - 1,
        "eos_token_id": Tokenizer.eos,
        "decoder_start_token_id": size - 1,
        "share_encoder_decoder_embeddings": shared(shape),
        "tie_word_embeddings": tied(shape),
        "is_encoder_decoder": True,
        "dropout": shape.dropout,
        "attention_dropout": shape.attention_dropout,
        "activation_dropout": shape.feed_forward_dropout,
        "use_cache": True,
        "dtype": precision,
    }


def _generation(model: Model, size: int) -> dict[str, Any]:
    search = model.config.search
    values: dict[str, Any] = {
        "pad_token_id": size - 1,
        "eos_token_id": Tokenizer.eos,
        "decoder_start_token_id": size - 1,
        "forced_eos_token_id": Tokenizer.eos,
        "bad_words_ids": [[size - 1]],
        "num_beams": search.beam,
        "max_new_tokens": position_rows(model.config.model) // 2,
    }
    if search.beam > 1:  # greedy search has no use for it, and transformers says so
        values["length_penalty"] = matched_penalty(search.alpha)
    return values


def _tokenizer(model: Model, entries: tuple[list[str], list[str]]) -> dict[str, Any]:
    shape = model.config.model
    source, target = model.languages
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": source,
        "target_lang": target,
        "separate_vocabs": entries[0] != entries[1],
        "unk_token": "<unk>",
        "eos_token": "</s>",
        "pad_token": entries[0][-1],
        "model_max_length": shape.max_positions,
        "clean_up_tokenization_spaces": False,
    }
