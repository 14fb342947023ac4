"""An import from beginning to end: a foreign model becomes a model directory with a card."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError
from headway.exchange import formats
from headway.exchange.creation import create_atomically
from headway.exchange.exporting import CARD
from headway.inference.card import front_matter, split_card
from headway.inference.directory import Model, save_model

MOST_NAMED = 50
MOST_CARD = 1 << 20
UNKNOWN = "und"
ENDING = re.compile(r"[-_.]([a-z]{2,3})-([a-z]{2,3})$")  # opus-mt-en-de


def import_model(
    path: str | Path,
    out: str | Path,
    languages: tuple[str, str] | None = None,
    name: str = "",
) -> tuple[str, Model]:
    """Read a foreign model and write it as a model directory.

    Args:
        path: Its file or directory.
        out: Not there yet; appears whole or not at all.
        languages: Codes of source and target, instead of what the model says.
        name: What it is called; two codes at its end are taken where the model itself says none.

    Returns:
        The format, and the model.

    Raises:
        HeadwayError: Naming what is missing, foreign or damaged.
    """
    path, out = Path(path), Path(out)
    with create_atomically(out) as temporary:
        form, model = formats.read(path)
        ending = ENDING.search(name)
        if UNKNOWN in model.languages and ending:
            model = replace(model, languages=(ending[1], ending[2]))
        languages = languages or model.languages
        if UNKNOWN in languages:
            raise HeadwayError(
                f"{name or path}: names no languages: headway import with --languages SOURCE TARGET"
            )
        model = replace(model, languages=languages)
        save_model(
            temporary,
            model.transformer,
            model.tokenizer,
            model.config,
            languages,
            card(path, form, languages, name or path.name),
        )
    return form, model


def card(path: Path, form: str, languages: tuple[str, str], name: str) -> str:
    """Say where a model came from; its own card goes along."""
    source, target = languages
    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()][:MOST_NAMED]
    hashes = "\n".join(
        f"| {file.relative_to(path) if file != path else file.name} | `{_sha256(file)}` |"
        for file in files
    )
    old = path / CARD
    own, licence = "", ""
    if path.is_dir() and old.is_file() and old.stat().st_size < MOST_CARD:
        head, own = split_card(old.read_text("utf-8", "replace"))
        found = re.search(r"^license:\s*(\S.*)", head, re.MULTILINE)
        licence = found[1].strip() if found else ""
        own = f"\n## The original's card\n\n{own.strip()}\n"
    return f"""{front_matter(languages, licence=licence)}
# Translation from {source} to {target}

A Transformer imported by Headway {__version__} from `{name}` (format: {form}); how it was trained is
for the original to say, and so is its licence.

    echo "..." | headway translate .

| file of the original | sha256 |
|---|---|
{hashes}
{own}"""


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
