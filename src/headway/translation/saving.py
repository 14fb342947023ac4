"""Write a translator to a model directory, copy what it has learned, and tell one model from another."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import Config, SearchConfig, TextConfig
from headway.extension import list_sidecars
from headway.files import remove, replace_bytes
from headway.model import Transformer
from headway.text.language_pairs import Languages, describe_pairs, list_codes
from headway.text.tokenizer import Tokenizer
from headway.translation.directory import CARD, CONFIG, read_config, save_model
from headway.translation.front_matter import complete_card


def save_translator(
    directory: str | Path,
    model: Transformer,
    tokenizer: Tokenizer,
    search: SearchConfig,
    languages: tuple[str, str],
    settings: Config | None,
    source_directory: Path | None,
    licence: str,
    pairs: Sequence[Languages] = (),
) -> None:
    """Write a model directory whose card has all fields of the Hugging Face hub.

    Args:
        directory: Created if it does not exist.
        model: Its weights are written as float32.
        tokenizer: Written too.
        search: Stored as the model's search settings.
        languages: Codes of source and target.
        settings: The settings of the training; None: not known.
        source_directory: The directory that the model was read from; its card and what it has learned are copied.
        licence: For the card; empty: as the copied card says, or unknown.
        pairs: All pairs of languages of a model of several.
    """
    if settings is None:
        longest = min(TextConfig().max_tokens, model.config.max_positions)
        settings = Config(model=model.config, text=TextConfig(max_tokens=longest))
    settings = replace(settings, model=model.config, search=search)
    codes = list_codes(pairs) or languages
    card = f"\n# {describe_pairs(pairs or [languages])}\n"
    if source_directory and (source_directory / CARD).is_file():
        card = (source_directory / CARD).read_text("utf-8", "replace")
    origin = ""
    if source_directory and (source_directory / CONFIG).is_file():
        origin = read_config(source_directory).origin
    card = complete_card(card, codes, licence)
    if not (source_directory and source_directory.resolve() == Path(directory).resolve()):
        for name in list_sidecars():
            remove(Path(directory) / name)
    save_model(directory, model, tokenizer, settings, languages, card, pairs, origin)
    if source_directory:
        copy_learned(source_directory, Path(directory))


def copy_learned(source: Path, directory: Path, *, has_same_weights: bool = True) -> None:
    """Copy what a model has learned besides its weights, but for what belongs to these weights alone, if they differ."""
    for name in list_sidecars(*(() if has_same_weights else ("model", "text"))):
        if (source / name).is_file():
            replace_bytes(directory / name, (source / name).read_bytes())


def hash_model(path: Path) -> str:
    """Return one sha256 of the files of a model directory that decide what it translates."""
    digest = hashlib.sha256()
    for pattern in (CONFIG, "*.model", "*.safetensors", *list_sidecars("text")):
        for file in sorted(path.glob(pattern)):
            with file.open("rb") as content:
                sha256 = hashlib.file_digest(content, "sha256").digest()
            digest.update(file.name.encode() + sha256)
    return digest.hexdigest()
