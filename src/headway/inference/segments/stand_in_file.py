"""``stand_ins.json``: the phrases that a model reads in the place of placeholders.

They are learned from a text with its translation, such as the training text, by counting
(`headway.text.steady_phrases`). A model without the file reads words that it copies.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError
from headway.file_format import check_writer, read_small_file
from headway.files import replace_text
from headway.text.steady_phrases import FOUND, NEIGHBORS, SteadyPhrase

FILE = "stand_ins.json"
FORMAT = 1
MAX_BYTES = 1 << 20
MAX_FORMS = 50  # translations of a phrase
LONGEST = 200  # characters of a text


def save_phrases(directory: Path, phrases: Mapping[str, Sequence[SteadyPhrase]]) -> None:
    """Write ``stand_ins.json``.

    Args:
        directory: Of the model.
        phrases: For each pair of languages, such as "en-de".
    """
    pairs = {name: [each._asdict() for each in some] for name, some in phrases.items()}
    values = {"format": FORMAT, "headway": __version__, "pairs": pairs}
    replace_text(directory / FILE, json.dumps(values, ensure_ascii=False, indent=1) + "\n")


def load_phrases(directory: Path | None) -> dict[str, list[SteadyPhrase]]:
    """Return the phrases of each pair of languages of a model; none: it has no ``stand_ins.json``.

    Raises:
        NewerFileError: If a newer Headway wrote the file, and this one does not understand it.
        HeadwayError: If the file is damaged.
    """
    if directory is None or not (file := directory / FILE).is_file():
        return {}
    values = read_small_file(file, FORMAT, MAX_BYTES)
    with check_writer(file, values):
        try:
            return _parse(values)
        except ValueError as error:
            raise HeadwayError(f"{file}: damaged: {error}") from None


def _parse(values: Mapping[str, object]) -> dict[str, list[SteadyPhrase]]:
    pairs = values.get("pairs")
    if not isinstance(pairs, dict) or not all(isinstance(some, list) for some in pairs.values()):
        raise ValueError("pairs must be lists of phrases")
    return {name: [_parse_phrase(each) for each in some[:FOUND]] for name, some in pairs.items()}


def _parse_phrase(values: object) -> SteadyPhrase:
    if not isinstance(values, dict) or values.keys() != set(SteadyPhrase._fields):
        raise ValueError(f"a phrase must have the fields {', '.join(SteadyPhrase._fields)}")
    translations, lines = values["translations"], values["lines"]
    if not isinstance(translations, list) or not 0 < len(translations) <= MAX_FORMS:
        raise ValueError(f"translations must be a list of 1 to {MAX_FORMS} texts")
    if not all(_is_text(text) for text in (values["text"], values["initial"], *translations)):
        raise ValueError(
            f"text, initial and translations must be texts of 1 to {LONGEST} characters"
        )
    counts = [values["before"], values["after"]]
    if not all(isinstance(some, dict) and len(some) <= NEIGHBORS for some in counts):
        raise ValueError(f"before and after must have {NEIGHBORS} counts at most")
    if not all(_is_count(count) for some in counts for count in some.values()):
        raise ValueError("the counts of before and after must be numbers from 0 to 1e9")
    if not _is_count(lines):
        raise ValueError("lines must be a number from 0 to 1e9")
    return SteadyPhrase(values["text"], values["initial"], tuple(translations), lines, *counts)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= LONGEST


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1e9
