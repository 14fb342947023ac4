"""Building a model from foreign weights and facts, and ``headway.json``: settings that only Headway reads, of its own exports."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from headway.config import Config
from headway.errors import HeadwayError
from headway.model import Transformer
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
        weights: A tensor for each name of the model's state, of its shape.
        file: The file of the weights, for messages.

    Raises:
        HeadwayError: If the weights are not all finite, the stored settings are damaged, or the vocabulary lacks the symbol
            of a target language.
    """
    if (directory / OWN_SETTINGS).is_file():
        stored = read_config(directory, OWN_SETTINGS)
        check_symbols([target for _, target in stored.pairs], tokenizer)
        facts = stored._replace(config=_restore_settings(facts.config, stored.config))
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise HeadwayError(f"{file}: {name} holds numbers that are not finite")
    transformer = Transformer(facts.config.model)
    transformer.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    config, languages, pairs, origin = facts.config, facts.languages, facts.pairs, facts.origin
    return Model(transformer.eval(), tokenizer, config, languages, directory, pairs, origin)


def _restore_settings(config: Config, original: Config) -> Config:
    """Return the settings of an import with those of the original that its weights do not show."""
    names = ["dropout", "attention_dropout", "feed_forward_dropout"]
    if config.model.positions != "learned":
        names.append("max_positions")  # the stored table is longer
    model = replace(config.model, **{name: getattr(original.model, name) for name in names})
    return replace(config, model=model, text=original.text, search=original.search)
