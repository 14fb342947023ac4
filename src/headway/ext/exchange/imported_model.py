"""Building a model from foreign weights and facts, and ``headway.json``: settings that only Headway reads, of its own exports."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from headway.config import Config, ModelConfig
from headway.errors import HeadwayError
from headway.model import Transformer, make_model_without_memory
from headway.text import Tokenizer, check_symbols
from headway.translation import Model, StoredConfig, read_config, write_config

OWN_SETTINGS = "headway.json"


def write_own_settings(model: Model, out: Path) -> None:
    """Write the settings, languages and origin of a model beside its export."""
    write_config(out, model.config, model.languages, OWN_SETTINGS, model.pairs, model.origin)


def build_model(
    directory: Path,
    tokenizer: Tokenizer,
    facts: StoredConfig,
    weights: Mapping[str, Tensor],
    file: Path,
) -> Model:
    """Build a model; what Headway has stored beside an export of its own counts more than what the export shows.

    Args:
        directory: The directory of the import.
        tokenizer: The tokenizer in Headway's order.
        facts: What the files of the other program show.
        weights: A tensor for each name of the model's state.
        file: The file of the weights, for messages.

    Raises:
        HeadwayError: As `build_transformer` does, or if the stored settings are damaged.
    """
    if stored := _read_own_settings(directory, tokenizer):
        facts = stored._replace(config=_restore_settings(facts.config, stored.config))
    transformer = build_transformer(facts.config.model, weights, file)
    config, languages, pairs, origin = facts.config, facts.languages, facts.pairs, facts.origin
    return Model(transformer, tokenizer, config, languages, directory, pairs, origin)


def build_transformer(
    config: ModelConfig, weights: Mapping[str, Tensor], file: Path
) -> Transformer:
    """Build a model in evaluation mode and load weights into it.

    Names and shapes are compared with the configuration before the model is allocated.

    Args:
        config: The model's settings, with the sizes of the vocabularies.
        weights: A tensor for each name of the model's state.
        file: The file of the weights, for messages.

    Raises:
        HeadwayError: If the weights do not fit the configuration, or are not all finite.
    """
    if max(config.num_encoder_layers, config.num_decoder_layers) > len(weights):
        raise HeadwayError(f"{file}: holds fewer layers than it says")
    empty = make_model_without_memory(config)
    expected = {name: tuple(tensor.shape) for name, tensor in empty.state_dict().items()}
    for name in sorted(expected.keys() | weights.keys()):
        shape = tuple(weights[name].shape) if name in weights else "missing"
        if shape != expected.get(name):
            raise HeadwayError(
                f"{file}: {name} is {shape}, and {expected.get(name, 'nothing')} was expected"
            )
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise HeadwayError(f"{file}: {name} holds numbers that are not finite")
    model = Transformer(config)
    model.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return model.eval()


def _read_own_settings(directory: Path, tokenizer: Tokenizer) -> StoredConfig | None:
    """Return what `write_own_settings` wrote; None for the model of another program.

    Args:
        directory: The directory of the import.
        tokenizer: The tokenizer, which has symbols of the target languages.

    Raises:
        HeadwayError: If the file is damaged, or the vocabulary lacks the symbol of a target language.
    """
    if not (directory / OWN_SETTINGS).is_file():
        return None
    stored = read_config(directory, OWN_SETTINGS)
    check_symbols([target for _, target in stored.pairs], tokenizer)
    return stored


def _restore_settings(config: Config, original: Config) -> Config:
    """Return the settings of an import with those of the original that its weights do not show."""
    names = ["dropout", "attention_dropout", "feed_forward_dropout"]
    if config.model.positions != "learned":
        names.append("max_positions")  # the stored table is longer
    model = replace(config.model, **{name: getattr(original.model, name) for name in names})
    return replace(config, model=model, text=original.text, search=original.search)
