"""Sentence frames and word tables, read from TOML files and checked against each other."""

import re
import tomllib
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError

SLOT = re.compile(r"\{(?P<name>[a-z]+)(?P<count>2?)(?:\.(?P<form>[a-z]+))?\}")
FOLDER = Path(__file__).parent


class Word:
    """A word of a table, with its forms in each language.

    Args:
        forms: Language code to form name to text. A word with one form in a language has the form
            name ``""`` there.
    """

    def __init__(self, forms: dict[str, dict[str, str]]) -> None:
        self.forms = forms
        self._first = {language: next(iter(texts.values())) for language, texts in forms.items()}

    def form(self, language: str, name: str | None) -> str:
        """Return the named form in a language, or the first form."""
        return self.forms[language][name] if name else self._first[language]


Table = dict[str, Word]


@dataclass(frozen=True)
class Frame:
    """A sentence with slots, in several languages.

    Attributes:
        name: Its name in ``frames.toml``.
        sentences: Language code to text with slots.
        slots: Names of the slots, sorted, each once, without forms.
    """

    name: str
    sentences: dict[str, str]
    slots: tuple[str, ...]


@dataclass(frozen=True)
class Frames:
    """All frames and the word tables that fill their slots.

    Attributes:
        frames: In the order of the file.
        tables: Word tables by name.
        languages: Codes of the languages that every frame and word has.
    """

    frames: tuple[Frame, ...]
    tables: dict[str, Table]
    languages: tuple[str, ...]


def load_frames(folder: Path, fillers: Set[str]) -> Frames:
    """Read ``frames.toml`` and ``words/*.toml`` and check that they fit together.

    Args:
        folder: Directory of the files.
        fillers: Names of the slots that have no word table.

    Raises:
        HeadwayError: If a language, a slot, a word or a form is missing; the message names the file,
            the frame or word, and the slot or form.
    """
    path = folder / "frames.toml"
    sentences = _read(path)
    languages = tuple(next(iter(sentences.values())))
    for name, texts in sentences.items():
        place = f"{path}: [{name}]"
        _check_languages(place, texts, languages)
        if not all(isinstance(text, str) for text in texts.values()):
            raise HeadwayError(f"{place}: a sentence must be a text in quotes")
    files = sorted((folder / "words").glob("*.toml"))
    tables = {file.stem: _read_table(file, languages) for file in files}
    for name, texts in sentences.items():
        _check_slots(f"{path}: [{name}]", texts, tables, fillers)
    frames = tuple(
        Frame(name, texts, tuple(sorted(slot_names(texts[languages[0]]))))
        for name, texts in sentences.items()
    )
    return Frames(frames, tables, languages)


@cache
def built_in_frames() -> Frames:
    """Return the frames that are part of the package."""
    from headway.ext.demo.fillers import FILLERS

    return load_frames(FOLDER, FILLERS.keys())


def slot_names(sentence: str) -> set[str]:
    """Return the names of a sentence's slots without their forms."""
    return {match["name"] + match["count"] for match in SLOT.finditer(sentence)}


def _check_slots(
    place: str, texts: dict[str, str], tables: dict[str, Table], fillers: Set[str]
) -> None:
    """Check that all languages have the same slots, and that every slot can be filled."""
    wanted = sorted(set().union(*map(slot_names, texts.values())))
    for language, sentence in texts.items():
        for slot in wanted:
            if slot not in slot_names(sentence):
                raise HeadwayError(f"{place}: {language} lacks the slot {{{slot}}}")
        if set("{}") & set(SLOT.sub("", sentence)):
            raise HeadwayError(
                f"{place}: {language}: a brace outside a slot; a slot is {{name}} or {{name.form}}"
            )
        for match in SLOT.finditer(sentence):
            problem = _find_problem(match["name"], match["form"], language, tables, fillers)
            if problem:
                raise HeadwayError(f"{place}: {language}: {match[0]}: {problem}")


def _find_problem(
    name: str, form: str | None, language: str, tables: dict[str, Table], fillers: Set[str]
) -> str | None:
    """Return why a slot cannot be filled; None if it can."""
    if name in fillers:
        return f"'{name}' is filled by a rule and has no forms" if form else None
    if name not in tables:
        return f"no words/{name}.toml, and no rule of that name"
    forms = next(iter(tables[name].values())).forms[language]
    if form is None or form in forms:
        return None
    if "" in forms:
        return f"words of words/{name}.toml have a single {language} form; write {{{name}}}"
    return f"words/{name}.toml has no {language} form '{form}', only {', '.join(forms)}"


def _read_table(path: Path, languages: tuple[str, ...]) -> Table:
    """Read a word table; every word has the languages of the frames and the forms of the first word."""
    words = _read(path)
    table: Table = {}
    expected: dict[str, dict[str, str]] = {}
    for key, texts in words.items():
        place = f"{path}: {key}"
        _check_languages(place, texts, languages)
        forms = {
            language: dict(_forms(f"{place}: {language}", texts[language]))
            for language in languages
        }
        expected = expected or forms
        for language in languages:
            for form in expected[language]:
                if form not in forms[language]:
                    raise HeadwayError(
                        f"{place}: {language} lacks the form '{form or 'plain text'}'"
                    )
            for form in forms[language]:
                if form not in expected[language]:
                    raise HeadwayError(
                        f"{place}: {language}: '{form}' is no form of the first word"
                    )
        table[key] = Word(forms)
    return table


def _forms(place: str, texts: object) -> Iterator[tuple[str, str]]:
    named = texts if isinstance(texts, dict) else {"": texts}
    for form, text in named.items():
        if not isinstance(text, str):
            raise HeadwayError(f"{place}: '{form}' must be a text in quotes")
        yield form, text


def _check_languages(place: str, texts: object, languages: tuple[str, ...]) -> None:
    if not isinstance(texts, dict):
        raise HeadwayError(f'{place}: no texts by language, such as en = "..."')
    missing = [language for language in languages if not texts.get(language)]
    if missing:
        raise HeadwayError(f"{place}: has no {missing[0]}")
    unknown = [language for language in texts if language not in languages]
    if unknown:
        raise HeadwayError(f"{place}: '{unknown[0]}' is not a language of the first frame")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise HeadwayError(f"{path}: {error}") from None
    if not content:
        raise HeadwayError(f"{path}: is empty")
    return content
