"""Importing a foreign model: it becomes a model directory with a card."""

import importlib
from dataclasses import replace
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.exchange.argos.package import open_directory
from headway.ext.exchange.named_languages import UNKNOWN_LANGUAGE, find_named_languages
from headway.ext.exchange.output import create_atomically
from headway.ext.exchange.recognizing import require_format
from headway.files import hash_file
from headway.text import Languages, list_pairs, name_pair, normalize_code
from headway.translation import (
    CARD,
    Model,
    complete_card,
    license_fields,
    save_model,
    split_card,
)

MAX_LISTED_FILES = 50
MAX_CARD_BYTES = 1 << 20


def import_model(
    path: str | Path,
    out: str | Path,
    languages: tuple[str, str] | None = None,
    name: str = "",
) -> tuple[str, Model]:
    """Read a foreign model and write it as a model directory.

    Args:
        path: Its file or directory.
        out: A path that does not exist yet; the directory appears complete or not at all.
        languages: Codes of source and target, instead of those that the model names.
        name: Its name, by default that of ``path``; if the model names no languages, two codes at the end of
            the name count.

    Returns:
        The format, and the model.

    Raises:
        HeadwayError: Naming the file that is missing, foreign or damaged, or if the symbols of the target
            languages show that the model translates other languages.
    """
    path, out = Path(path), Path(out)
    format_name = require_format(path)
    with create_atomically(out) as temporary, open_directory(path) as directory:
        reader = importlib.import_module(f"headway.ext.exchange.{format_name}.reader")
        model: Model = reader.read(directory)
        languages = languages or model.languages
        if UNKNOWN_LANGUAGE in languages:
            languages = find_named_languages(name or path.resolve().name)
        if UNKNOWN_LANGUAGE in languages:
            raise HeadwayError(
                f"{name or path}: names no languages: headway import with --languages SOURCE TARGET"
            )
        pairs = model.pairs
        if len(pairs) == 1 and UNKNOWN_LANGUAGE in pairs[0]:  # the model may not name the source
            pairs = ((languages[0], pairs[0][1]),)
        if pairs:
            languages = _find_pair(pairs, languages, name or str(path))
            pairs = (languages, *(pair for pair in pairs if pair != languages))
        model = replace(model, languages=languages, pairs=pairs)
        save_model(
            temporary,
            model.transformer,
            model.tokenizer,
            model.config,
            languages,
            make_card(path, directory, format_name, languages, name or path.name),
            pairs,
            model.origin,
        )
    return format_name, model


def _find_pair(pairs: tuple[Languages, ...], wanted: Languages, name: str) -> Languages:
    """Return the pair of a model's pairs that has the wanted languages; ``fra`` and ``fr`` are one language."""
    codes = [*map(normalize_code, wanted)]
    for pair in pairs:
        if [*map(normalize_code, pair)] == codes:
            return pair
    raise HeadwayError(f"{name}: translates {list_pairs(pairs)}, not {name_pair(wanted)}")


def make_card(
    path: Path, directory: Path, format_name: str, languages: tuple[str, str], name: str
) -> str:
    """Return a card that names the original and its files, with the original's card at the end.

    Args:
        path: Of the original, a file or a directory.
        directory: Its directory; that of an unpacked package.
        format_name: Its format.
        languages: Codes of source and target.
        name: Its name.
    """
    source, target = languages
    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()][:MAX_LISTED_FILES]
    rows = "\n".join(
        f"| {file.relative_to(path) if file != path else file.name} | `{hash_file(file)}` |"
        for file in files
    )
    file, card = directory / CARD, ""
    if file.is_file() and file.stat().st_size <= MAX_CARD_BYTES:
        card = file.read_text("utf-8", "replace")
    original = f"\n## The original's card\n\n{split_card(card)[1].strip()}\n" if card else ""
    return f"""{complete_card(license_fields(card), languages)}
# Translation from {source} to {target}

A Transformer that Headway {__version__} imported from `{name}` (format: {format_name}). The original's
card says how it was trained, and its license applies.

    echo "..." | headway translate .

| file of the original | sha256 |
|---|---|
{rows}
{original}"""
