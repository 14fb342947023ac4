"""Write a translator to a model directory, copy what it has learned, and tell one model from another."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headway.config import Config, TextConfig
from headway.errors import HeadwayError
from headway.extension import list_sidecars
from headway.files import remove, replace_bytes
from headway.model import make_model_without_memory
from headway.text.languages import describe_pairs, list_codes
from headway.translation.directory import CARD, CONFIG, read_config, save_model
from headway.translation.front_matter import complete_card

if TYPE_CHECKING:
    from headway.translation.translator import Translator


def save_translator(translator: "Translator", directory: Path, licence: str) -> None:
    """Write a model directory whose card has all fields of the Hugging Face hub; see `Translator.save_pretrained`."""
    model, source = translator.model, translator.directory
    usual = make_model_without_memory(model.config).state_dict()
    if other := {*usual} ^ {*model.state_dict()}:
        raise HeadwayError(
            f"{directory}: the model has layers of its own ({min(other)}), which no model directory describes: save its"
            " state_dict by torch.save"
        )
    pairs, languages = translator.pairs, translator.languages
    settings, card, origin = translator.config, f"\n# {describe_pairs(pairs or [languages])}\n", ""
    if settings is None:
        longest = min(TextConfig().max_tokens, model.config.max_positions)
        settings = Config(model=model.config, text=TextConfig(max_tokens=longest))
    settings = replace(settings, model=model.config, search=translator.default_search)
    if source and (source / CARD).is_file():
        card = (source / CARD).read_text("utf-8", "replace")
    if source and (source / CONFIG).is_file():
        origin = read_config(source).origin
    card = complete_card(card, list_codes(pairs) or languages, licence)
    if not (source and source.resolve() == directory.resolve()):
        for name in list_sidecars():
            remove(directory / name)
    save_model(directory, model, translator.tokenizer, settings, languages, card, pairs, origin)
    if source:
        copy_learned(source, directory)


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
