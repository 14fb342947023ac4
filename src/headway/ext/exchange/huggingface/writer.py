"""Writing a Marian directory of Hugging Face transformers.

The layout is that of the OPUS-MT models: ``<pad>`` is the last entry, its embedding is zero, and the
decoder starts from it.
"""

import json
from pathlib import Path

import torch

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.ext.exchange.expressing import (
    IMPOSSIBLE_LOGIT,
    find_other_attention,
    list_sentence_note,
)
from headway.ext.exchange.huggingface.runner import TransformersRunner as run
from headway.ext.exchange.huggingface.settings import position_rows, special_ids, write_shape
from headway.ext.exchange.huggingface.weights import NORM_EPSILON, to_marian
from headway.ext.exchange.imported_model import write_own_settings
from headway.text import Tokenizer, language_symbol
from headway.translation import Model, save_tensors

__all__ = ["PRECISIONS", "USAGE", "find_refusals", "pack", "run", "write"]

TYPICAL_LENGTH = 20  # tokens, at which the length penalties are matched
pack = None
PRECISIONS = ("float32", "float16", "bfloat16")
USAGE = """```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("DIR")
model = AutoModelForSeq2SeqLM.from_pretrained("DIR")
batch = tokenizer(["..."], return_tensors="pt", padding=True)
found = model.generate(**batch, max_new_tokens=batch.input_ids.shape[1] + 50)
print(tokenizer.batch_decode(found, skip_special_tokens=True))
```"""


def find_refusals(config: ModelConfig) -> list[str]:
    """Return the reasons why Marian cannot express a model exactly; none: it can."""
    d_model, heads = config.d_model, config.num_heads
    head_width = d_model // heads
    reasons = find_other_attention(config)
    if config.norm != "post":
        reasons.append(f"norm = '{config.norm}': its layers normalize after the sum")
    if config.norm_epsilon != NORM_EPSILON:
        reasons.append(f"norm_epsilon = {config.norm_epsilon:g}: its is {NORM_EPSILON:g}")
    if d_model % heads or set(config.head_widths) != {head_width}:
        reasons.append("d_k or d_v: its heads are d_model / num_heads wide")
    if config.scale_logits and config.num_decoder_layers == 0:
        reasons.append("num_decoder_layers = 0 with scale_logits: no norm to put the scale in")
    return reasons


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write a Marian directory; see `headway.ext.exchange.formats.ExportWriter`.

    Raises:
        HeadwayError: If a weight is too large for the precision, or sources do not end in ``</s>``.
    """
    if not model.tokenizer.ends_sources:
        raise HeadwayError(
            f"{model.path}: its sources do not end in </s>, as those of every Marian model do: export it to"
            " ctranslate2 or argos"
        )
    entries, _ = vocabularies(model.tokenizer)
    weights = to_marian(model.transformer, len(entries))
    for name, value in weights.items():
        weights[name] = value.to(getattr(torch, precision))
        if not weights[name].isfinite().all():
            raise HeadwayError(f"{model.path}: {name} is too large for {precision}: use bfloat16")
    out.mkdir()
    write_text_files(model, out, precision)
    write_own_settings(model, out)
    save_tensors(out / "model.safetensors", weights, {"format": "pt"})
    found = notes(model)
    if precision != "float32":
        found.append(f"weights are stored as {precision}; transformers computes in {precision}")
    return found


def write_text_files(model: Model, out: Path, precision: str) -> None:
    """Write all files of a Marian directory except the weights and the card.

    Args:
        model: The model.
        out: The directory, which exists.
        precision: Of the weights, by torch's name.
    """
    entries = vocabularies(model.tokenizer)
    files: dict[str, object] = {
        "config.json": write_shape(model.config.model, len(entries[0]), precision),
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
    """Return the entries of source and target in the order of their ids, ``<pad>`` last.

    transformers has one id of ``<pad>`` for both sides, so both lists have the same length.
    """
    source = tokenizer.source_subwords(range(tokenizer.source_pad))
    target = tokenizer.target_subwords(range(tokenizer.target_pad))
    pad = "<pad>"
    while pad in source or pad in target:  # the corpus may have a subword of that name
        pad = f"<{pad}>"
    size = max(len(source), len(target))
    source += [f"<empty{i}>" for i in range(len(source), size)]
    target += [f"<empty{i}>" for i in range(len(target), size)]
    return [*source, pad], [*target, pad]


def matched_penalty(alpha: float) -> float:
    """Return the exponent of |Y| with the slope of ((5 + |Y|) / 6)^alpha at a typical length."""
    return round(alpha * TYPICAL_LENGTH / (5 + TYPICAL_LENGTH), 2)


def notes(model: Model) -> list[str]:
    """Return what differs in transformers, and what to set there."""
    search, shape, tokenizer = model.config.search, model.config.model, model.tokenizer
    found = [
        "length penalty: transformers divides by |Y|^length_penalty, the paper by ((5 + |Y|) / 6)^alpha;"
        f" alpha = {search.alpha:g} is nearest to length_penalty = {matched_penalty(search.alpha):g},"
        " as in generation_config.json",
        f"longest output: Headway allows source tokens + {search.max_extra}; set max_new_tokens",
        "text: transformers reads </s>, <pad> and >>xx<< in a text as control symbols, and U+2581 as"
        " a space",
        *list_sentence_note(search),
    ]
    if model.targets:
        symbols = " ".join(map(language_symbol, model.targets))
        found.append(
            f"target language: a text begins with its symbol ({symbols}), without a space:"
            f" tokenizer(['{language_symbol(model.targets[0])}...'])"
        )
    if tokenizer.source_vocab_size != tokenizer.target_vocab_size:
        fewer = "source" if tokenizer.source_vocab_size < tokenizer.target_vocab_size else "target"
        found.append(
            f"vocabularies: the {fewer} has empty entries at its end, because transformers needs two"
            f" of one size; on the target side their logits are {IMPOSSIBLE_LOGIT:g}"
        )
    if shape.d_embedding not in (0, shape.d_model):
        found.append(
            f"d_embedding = {shape.d_embedding}: multiplied out to {shape.d_model}, in three matrices"
        )
    return found


def _numbered(entries: list[str]) -> dict[str, int]:
    return {entry: number for number, entry in enumerate(entries)}


def _generation(model: Model, size: int) -> dict[str, object]:
    search = model.config.search
    values: dict[str, object] = {
        **special_ids(size),
        "forced_eos_token_id": Tokenizer.eos,
        "bad_words_ids": [[size - 1]],
        "num_beams": search.beam,
        "min_new_tokens": 1,
        "max_new_tokens": position_rows(model.config.model) // 2,
    }
    if search.beam > 1:  # transformers warns about a penalty for greedy search
        values["length_penalty"] = matched_penalty(search.alpha)
    return values


def _tokenizer(model: Model, entries: tuple[list[str], list[str]]) -> dict[str, object]:
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
