"""Marian directories of Hugging Face transformers, OPUS-MT among them, read as Headway models."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from headway.config import Config, ModelConfig, SearchConfig, TextConfig
from headway.config.sections import LARGEST
from headway.errors import HeadwayError
from headway.exchange.huggingface.vocabulary import make_tokenizer, read_entries
from headway.exchange.huggingface.weights import embeddings, expected, from_marian
from headway.exchange.weights_file import read_object, read_weights
from headway.inference.directory import Model
from headway.model import Transformer

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
MOST_LAYERS = 1000
MOST_BEAMS = 16
PAIR = re.compile(r"(?:opus-mt-(?:\w+-)*?|marian/)([a-z]{2,3})-([a-z]{2,3})$")
UNDEFINED = "und"  # what ISO 639 calls a language that nobody named


def read(path: Path) -> Model:
    """Read a Marian directory: OPUS-MT's, old or new, or what `headway.exchange.huggingface.write` wrote.

    Raises:
        HeadwayError: Naming the file that is missing, damaged, or says what Headway cannot.
    """
    if not path.is_dir():
        raise HeadwayError(f"{path}: not a directory of Hugging Face transformers")
    file = path / "config.json"
    settings = read_object(file)
    if settings.get("model_type") != "marian":
        raise HeadwayError(
            f"{file}: model_type = {settings.get('model_type')!r:.40} must be 'marian'"
        )
    shape = _shape(settings, file)
    about = read_object(path / "tokenizer_config.json", missing=True)
    separate = about.get("separate_vocabs") is True
    sizes = shape.source_vocab_size, shape.target_vocab_size
    entries = read_entries(path, settings, sizes, separate=separate)
    tokenizer, subwords = make_tokenizer(path, entries)
    weights = next((path / name for name in WEIGHTS if (path / name).is_file()), None)
    if weights is None:
        raise HeadwayError(f"{path}: no {' and no '.join(WEIGHTS)}")
    found = read_weights(weights, *expected(shape))
    tables = embeddings(
        found,
        shared=settings.get("share_encoder_decoder_embeddings", True),
        tied=settings.get("tie_word_embeddings", True),
        file=weights,
    )
    start = settings["pad_token_id"]
    if tables[1][start].any():
        raise HeadwayError(f"{weights}: the decoder does not start from zeros, as Headway's does")
    shape, values = from_marian(shape, found, tables, (entries[0].ids, entries[1].ids))
    transformer = Transformer(shape)
    transformer.load_state_dict(values)
    longest = min(TextConfig().max_tokens, shape.max_positions)
    text = TextConfig(
        vocab_size=shape.target_vocab_size,
        joint_vocab=tokenizer.joint,
        subwords=cast(Any, subwords),
        max_tokens=longest,
    )
    config = Config(text=text, model=shape, search=_search(path, settings))
    return Model(transformer.eval(), tokenizer, config, _languages(path, settings, about), path)


def _shape(settings: Mapping[str, Any], file: Path) -> ModelConfig:
    """Return the shape that config.json says; what it leaves open, the weights will say."""
    flags = ("scale_embedding", "share_encoder_decoder_embeddings", "tie_word_embeddings")
    for name in flags:
        if type(settings.get(name, True)) is not bool:
            raise HeadwayError(f"{file}: {name} must be true or false")
    activation = settings.get("activation_function")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise HeadwayError(
            f"{file}: activation_function = {activation!r:.40} must be one of {', '.join(ACTIVATIONS)}"
        )

    def number(name: str, least: int = 1, most: int = LARGEST) -> int:
        value = settings.get(name)
        if type(value) is not int or not least <= value <= most:
            raise HeadwayError(
                f"{file}: {name} = {value!r:.40} must be a whole number from {least} to {most:,}"
            )
        return value

    def both(name: str) -> int:
        one, other = number(f"encoder_{name}"), number(f"decoder_{name}")
        if one != other:
            raise HeadwayError(
                f"{file}: encoder_{name} = {one} and decoder_{name} = {other} must be the same"
            )
        return one

    def rate(name: str) -> float:
        value = settings.get(name, 0)
        if type(value) not in (int, float) or not 0 <= value < 1:
            raise HeadwayError(f"{file}: {name} = {value!r:.40} must be at least 0 and below 1")
        return float(value)

    size = number("vocab_size", 3)
    own = settings.get("decoder_vocab_size") is not None
    try:
        return ModelConfig(
            source_vocab_size=size,
            target_vocab_size=number("decoder_vocab_size", 3) if own else size,
            num_encoder_layers=number("encoder_layers", 0, MOST_LAYERS),
            num_decoder_layers=number("decoder_layers", 0, MOST_LAYERS),
            d_model=number("d_model"),
            d_ff=both("ffn_dim"),
            num_heads=both("attention_heads"),
            dropout=rate("dropout"),
            attention_dropout=rate("attention_dropout"),
            feed_forward_dropout=rate("activation_dropout"),
            activation=cast(Any, ACTIVATIONS[activation]),
            max_positions=number("max_position_embeddings"),
            scale_embeddings=settings.get("scale_embedding", False),
            tying="none",
        )
    except HeadwayError as error:
        lines = (line.removeprefix(f"{file}: ") for line in str(error).split("\n"))
        raise HeadwayError("\n".join(f"{file}: {line}" for line in lines)) from None


def _search(path: Path, settings: Mapping[str, Any]) -> SearchConfig:
    """Return the search that its makers set, as far as ours is the same: the beam."""
    about = read_object(path / "generation_config.json", missing=True)
    beam = about.get("num_beams", settings.get("num_beams"))
    known = type(beam) is int and 0 < beam <= MOST_BEAMS
    return SearchConfig(beam=cast(int, beam)) if known else SearchConfig()


def _languages(
    path: Path, settings: Mapping[str, Any], about: Mapping[str, Any]
) -> tuple[str, str]:
    codes = about.get("source_lang"), about.get("target_lang")
    if all(isinstance(code, str) and re.fullmatch(r"\w[\w-]{0,30}", code) for code in codes):
        return cast(tuple[str, str], codes)
    for name in (settings.get("_name_or_path"), path.resolve().name):
        if isinstance(name, str) and (match := PAIR.search(name)):
            return match[1], match[2]
    return UNDEFINED, UNDEFINED
