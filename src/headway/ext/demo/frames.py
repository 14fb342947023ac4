"""Sentences: frames whose slots are filled with words of tables and with values."""

import re
import tomllib
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from headway.ext.demo.catalog import FOLDER, Catalog
from headway.ext.demo.fillers import FILLERS
from headway.ext.demo.formatter import Formatter
from headway.ext.demo.kinds import Wording, Wordings

SLOT = re.compile(r"\{(?P<name>[a-z]+)(?P<count>2?)(?:\.(?P<form>[a-z]+))?\}")
# By the key of a word and by language: its text, or its texts by form.
Table = dict[str, dict[str, str | dict[str, str]]]


class Frames(NamedTuple):
    """Sentence frames and the word tables that fill their slots; tests check that they fit together.

    Attributes:
        sentences: Texts with slots, by frame and language.
        tables: Word tables by name.
    """

    sentences: dict[str, dict[str, str]]
    tables: dict[str, Table]


@cache
def built_in_frames() -> Frames:
    """Return the frames that are part of the package."""
    tables = {path.stem: _read(path) for path in (FOLDER / "words").glob("*.toml")}
    return Frames(_read(FOLDER / "frames.toml"), tables)


def slot_names(sentence: str) -> set[str]:
    """Return the names of a sentence's slots without their forms."""
    return {match["name"] + match["count"] for match in SLOT.finditer(sentence)}


def has_frames(formatter: Formatter) -> bool:
    """Tell whether the sentence frames have a locale's language."""
    return formatter.language_code in next(iter(built_in_frames().sentences.values()))


def make_sentence(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a frame and the fillings of its slots, the same in every language."""
    data = built_in_frames()
    sentences = rng.choice(list(data.sentences.values()))
    fillings: dict[str, Wording] = {}
    keys: dict[str, str] = {}
    for slot in sorted(slot_names(next(iter(sentences.values())))):
        base = slot.removesuffix("2")
        if base in FILLERS:
            fillings[slot] = FILLERS[base](rng, catalog)
        else:
            keys[slot] = rng.choice([key for key in data.tables[base] if key != keys.get(base)])

    def write(fmt: Formatter) -> str:
        language = fmt.language_code
        texts = {slot: filling(fmt) for slot, filling in fillings.items()}
        if any(texts.get(slot + "2") == text for slot, text in texts.items()):
            raise LookupError("a sentence would repeat a text")

        def fill(match: re.Match[str]) -> str:
            slot = match["name"] + match["count"]
            if slot in texts:
                return texts[slot]
            return word_form(data.tables[match["name"]][keys[slot]][language], match["form"])

        text = SLOT.sub(fill, sentences[language])
        return text[0].upper() + text[1:]

    yield write


def word_form(word: str | dict[str, str], form: str | None) -> str:
    """Return the named form of a word in one language, or its first form."""
    if isinstance(word, str):
        return word
    return word[form] if form else next(iter(word.values()))


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
