"""A translator back into a model directory, with all that it was read with."""

from dataclasses import replace
from pathlib import Path

from headway.config import Config, SearchConfig, TextConfig
from headway.files import replace_bytes
from headway.inference import shortlist
from headway.inference.card import completed
from headway.inference.directory import CARD, save_model
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer


def save_translator(
    directory: str | Path,
    model: Transformer,
    tokenizer: Tokenizer,
    search: SearchConfig,
    languages: tuple[str, str],
    settings: Config | None,
    own: Path | None,
    licence: str,
) -> None:
    """Write a model directory with a card that has all the hub's fields.

    Args:
        directory: Made if it is not there.
        model: Its weights are written as float32.
        tokenizer: Written beside.
        search: Stored as the model's way of searching.
        languages: Codes of source and target.
        settings: What it was trained with; None: not known.
        own: Where it was read from: its card and its shortlist go along.
        licence: For the card; none: what the card says, or unknown.
    """
    if settings is None:
        longest = min(TextConfig().max_tokens, model.config.max_positions)
        settings = Config(model=model.config, text=TextConfig(max_tokens=longest))
    settings = replace(settings, model=model.config, search=search)
    card = f"\n# Translation from {languages[0]} to {languages[1]}\n"
    if own and (own / CARD).is_file():
        card = (own / CARD).read_text("utf-8", "replace")
    save_model(
        directory, model, tokenizer, settings, languages, completed(card, languages, licence)
    )
    if own and (own / shortlist.FILE).is_file():
        replace_bytes(Path(directory) / shortlist.FILE, (own / shortlist.FILE).read_bytes())
