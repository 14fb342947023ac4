"""The settings of a Marian directory: ``config.json`` and the files beside it, as Headway's settings, and the other way."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from headway.config import ModelConfig, SearchConfig, from_dict
from headway.errors import HeadwayError
from headway.ext.exchange.huggingface.weights import NORM_EPSILON, is_shared, is_tied
from headway.ext.exchange.json_file import read_optional_json_object
from headway.ext.exchange.named_languages import find_named_languages
from headway.text import CODE, Tokenizer

# The names of config.json, beside Headway's. In a Headway model encoder and decoder have some in common.
NAMES = {
    "vocab_size": "source_vocab_size",
    "decoder_vocab_size": "target_vocab_size",
    "d_model": "d_model",
    "encoder_layers": "num_encoder_layers",
    "decoder_layers": "num_decoder_layers",
    "encoder_attention_heads": "num_heads",
    "decoder_attention_heads": "num_heads",
    "encoder_ffn_dim": "d_ff",
    "decoder_ffn_dim": "d_ff",
    "activation_function": "activation",
    "max_position_embeddings": "max_positions",
    "scale_embedding": "scale_embeddings",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
    "activation_dropout": "feed_forward_dropout",
}
# The values of those that a file need not have.
DEFAULTS = {
    "scale_embedding": False,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
}
MAX_BEAM = 64  # that of SearchConfig in a file
MIN_POSITIONS = 1024


def read_shape(stored: Mapping[str, Any], file: Path) -> ModelConfig:
    """Return the settings of a Headway model; the weights complete tying, biases and positions.

    Args:
        stored: The content of config.json.
        file: The file, for messages.

    Raises:
        HeadwayError: Naming a field that is missing or wrong.
    """
    values = {**DEFAULTS, **stored}
    if values.get("decoder_vocab_size") is None:
        values["decoder_vocab_size"] = values.get("vocab_size")
    if values.get("activation_function") == "silu":  # another name of the same
        values["activation_function"] = "swish"
    shape: dict[str, object] = {"tying": "none"}
    for theirs, ours in NAMES.items():
        value = values.get(theirs)
        if shape.setdefault(ours, value) != value:
            raise HeadwayError(
                f"{file}: {theirs} = {value!r:.40} must be that of the encoder, {shape[ours]!r:.40}"
            )
    try:
        return from_dict({"model": shape}, str(file)).model
    except HeadwayError as error:
        theirs_of = {ours: theirs for theirs, ours in NAMES.items()}
        message = re.sub(r"\bmodel\.(\w+)", lambda name: theirs_of[name[1]], str(error))
        raise HeadwayError(message) from None


def read_flag(values: Mapping[str, Any], name: str, file: Path) -> bool:
    """Return a field of config.json that must be true or false; it is true if it is missing."""
    value = values.get(name, True)
    if type(value) is not bool:
        raise HeadwayError(f"{file}: {name} must be true or false")
    return value


def write_shape(shape: ModelConfig, size: int, precision: str) -> dict[str, object]:
    """Return the content of config.json.

    Args:
        shape: Settings of a model that Marian can express.
        size: The size of both vocabularies.
        precision: Of the weights, by torch's name.
    """
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        **{theirs: getattr(shape, ours) for theirs, ours in NAMES.items()},
        "vocab_size": size,
        "decoder_vocab_size": size,
        "layer_norm_epsilon": NORM_EPSILON,
        "static_position_embeddings": shape.positions == "sinusoidal",
        "max_position_embeddings": position_rows(shape),
        **special_ids(size),
        "share_encoder_decoder_embeddings": is_shared(shape),
        "tie_word_embeddings": is_tied(shape),
        "is_encoder_decoder": True,
        "use_cache": True,
        "dtype": precision,
    }


def special_ids(size: int) -> dict[str, object]:
    """Return the ids of special entries, for two vocabularies of this size."""
    return {
        "pad_token_id": size - 1,
        "eos_token_id": Tokenizer.eos,
        "decoder_start_token_id": size - 1,
    }


def position_rows(shape: ModelConfig) -> int:
    """Return the number of positions that an export supports."""
    if shape.positions == "sinusoidal":
        return max(MIN_POSITIONS, shape.max_positions)
    return shape.max_positions


def read_search(path: Path, values: Mapping[str, Any]) -> SearchConfig:
    """Return the default search settings, with the beam that the directory names.

    Args:
        path: The directory.
        values: The content of config.json.

    Raises:
        HeadwayError: If every translation has to begin with a certain token.
    """
    generation = read_optional_json_object(path / "generation_config.json")
    for name, found in (("generation_config.json", generation), ("config.json", values)):
        forced = found.get("forced_bos_token_id")
        if forced is not None:
            raise HeadwayError(
                f"{path / name}: forced_bos_token_id = {forced!r:.40}: no translation of Headway begins with a given token"
            )
    beam = generation.get("num_beams", values.get("num_beams"))
    if type(beam) is int and 0 < beam <= MAX_BEAM:
        return SearchConfig(beam=beam)
    return SearchConfig()


def find_languages(values: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> tuple[str, str]:
    """Return the languages of source and target that the files of a directory name.

    Args:
        values: The content of config.json, which may hold the model's name.
        tokenizer: The content of tokenizer_config.json.
    """
    codes = tokenizer.get("source_lang"), tokenizer.get("target_lang")
    if all(isinstance(code, str) and CODE.fullmatch(code) for code in codes):
        return cast("tuple[str, str]", codes)
    return find_named_languages(str(values.get("_name_or_path", "")))
