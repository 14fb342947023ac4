"""``headway.json``: settings that only Headway reads, when it imports its own export."""

from dataclasses import replace
from pathlib import Path

from headway.config import Config
from headway.text import Tokenizer, check_symbols
from headway.translation import Model, StoredConfig, read_config, write_config

FILE = "headway.json"


def write_own_settings(model: Model, out: Path) -> None:
    """Write the settings, languages and origin of a model beside its export."""
    write_config(out, model.config, model.languages, FILE, model.pairs, model.origin)


def read_own_settings(directory: Path, tokenizer: Tokenizer) -> StoredConfig | None:
    """Return what `write_own_settings` wrote; None for the model of another program.

    Args:
        directory: The directory of the import.
        tokenizer: The tokenizer, which has symbols of the target languages.

    Raises:
        HeadwayError: If the file is damaged, or the vocabulary lacks the symbol of a target language.
    """
    if not (directory / FILE).is_file():
        return None
    stored = read_config(directory, FILE)
    check_symbols([target for _, target in stored.pairs], tokenizer)
    return stored


def restore_settings(config: Config, original: Config) -> Config:
    """Return the settings of an import with those of the original that its weights do not show."""
    names = ["dropout", "attention_dropout", "feed_forward_dropout"]
    if config.model.positions != "learned":
        names.append("max_positions")  # the stored table is longer
    model = replace(config.model, **{name: getattr(original.model, name) for name in names})
    return replace(config, model=model, text=original.text, search=original.search)
