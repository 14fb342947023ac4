"""The settings of a Marian directory: ``config.json`` and the files beside it, as Headway's settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from headway.config import LARGEST, MAX_LAYERS, Activation, ModelConfig, SearchConfig
from headway.errors import HeadwayError
from headway.ext.exchange.json_file import read_optional_json_object
from headway.ext.exchange.named_languages import find_named_languages
from headway.text import CODE

ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "swish": "swish",
    "silu": "swish",
}
MAX_BEAM = 64  # that of SearchConfig in a file


class MarianSettings:
    """The content of a ``config.json``, read field by field.

    Args:
        values: The content.
        file: The file, for messages.
    """

    def __init__(self, values: Mapping[str, Any], file: Path) -> None:
        self.values, self.file = values, file

    def get_integer(self, name: str, minimum: int = 1, maximum: int = LARGEST) -> int:
        """Return an integer within bounds."""
        value = self.values.get(name)
        if type(value) is not int or not minimum <= value <= maximum:
            raise HeadwayError(
                f"{self.file}: {name} = {value!r:.40} must be an integer from {minimum} to"
                f" {maximum:,}"
            )
        return value

    def get_common_integer(self, name: str) -> int:
        """Return an integer that encoder and decoder must share."""
        encoder, decoder = (self.get_integer(f"{side}_{name}") for side in ("encoder", "decoder"))
        if encoder != decoder:
            raise HeadwayError(
                f"{self.file}: encoder_{name} = {encoder} and decoder_{name} = {decoder} must be the"
                " same"
            )
        return encoder

    def get_rate(self, name: str) -> float:
        """Return a dropout rate; 0 if it is missing."""
        value = self.values.get(name, 0)
        if type(value) not in (int, float) or not 0 <= value < 1:
            raise HeadwayError(
                f"{self.file}: {name} = {value!r:.40} must be at least 0 and below 1"
            )
        return float(value)

    def get_flag(self, name: str, default: bool) -> bool:
        """Return a boolean."""
        value = self.values.get(name, default)
        if type(value) is not bool:
            raise HeadwayError(f"{self.file}: {name} must be true or false")
        return value

    def get_activation(self) -> Activation:
        """Return Headway's name of the activation."""
        value = self.values.get("activation_function")
        if not isinstance(value, str) or value not in ACTIVATIONS:
            raise HeadwayError(
                f"{self.file}: activation_function = {value!r:.40} must be one of"
                f" {', '.join(ACTIVATIONS)}"
            )
        return ACTIVATIONS[value]

    def to_model_config(self) -> ModelConfig:
        """Return the settings of a Headway model; the weights complete tying, biases and positions.

        Raises:
            HeadwayError: Naming a field that is missing or wrong.
        """
        size = self.get_integer("vocab_size", 3)
        has_own_size = self.values.get("decoder_vocab_size") is not None
        try:
            return ModelConfig(
                source_vocab_size=size,
                target_vocab_size=self.get_integer("decoder_vocab_size", 3)
                if has_own_size
                else size,
                num_encoder_layers=self.get_integer("encoder_layers", 0, MAX_LAYERS),
                num_decoder_layers=self.get_integer("decoder_layers", 0, MAX_LAYERS),
                d_model=self.get_integer("d_model"),
                d_ff=self.get_common_integer("ffn_dim"),
                num_heads=self.get_common_integer("attention_heads"),
                dropout=self.get_rate("dropout"),
                attention_dropout=self.get_rate("attention_dropout"),
                feed_forward_dropout=self.get_rate("activation_dropout"),
                activation=self.get_activation(),
                max_positions=self.get_integer("max_position_embeddings"),
                scale_embeddings=self.get_flag("scale_embedding", False),
                tying="none",
            )
        except HeadwayError as error:  # ModelConfig does not know the file
            lines = (line.removeprefix(f"{self.file}: ") for line in str(error).split("\n"))
            raise HeadwayError("\n".join(f"{self.file}: {line}" for line in lines)) from None


def read_search(path: Path, settings: MarianSettings) -> SearchConfig:
    """Return the default search settings, with the beam that the directory names.

    Raises:
        HeadwayError: If every translation has to begin with a certain token.
    """
    file = path / "generation_config.json"
    generation = read_optional_json_object(file)
    for source, values in ((file, generation), (settings.file, settings.values)):
        forced = values.get("forced_bos_token_id")
        if forced is not None:
            raise HeadwayError(
                f"{source}: forced_bos_token_id = {forced!r:.40}: no translation of Headway begins with a given token"
            )
    beam = generation.get("num_beams", settings.values.get("num_beams"))
    if type(beam) is int and 0 < beam <= MAX_BEAM:
        return SearchConfig(beam=beam)
    return SearchConfig()


def find_languages(settings: MarianSettings, tokenizer: Mapping[str, Any]) -> tuple[str, str]:
    """Return the languages of source and target that the files of a directory name.

    Args:
        settings: The content of config.json, which may hold the model's name.
        tokenizer: The content of tokenizer_config.json.
    """
    codes = tokenizer.get("source_lang"), tokenizer.get("target_lang")
    if all(isinstance(code, str) and CODE.fullmatch(code) for code in codes):
        return cast("tuple[str, str]", codes)
    return find_named_languages(str(settings.values.get("_name_or_path", "")))
