"""``stand_ins.json``: what a model reads in the place of placeholders.

Phrases are learned from a text with its translation, such as the training text, by counting
(`headway.ext.protect.steady_phrases`), and so are the places with nothing (`headway.ext.protect.gaps`). A model without the file
reads words that it copies.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.protect.gaps import PAIRS, Gap, count_gaps
from headway.ext.protect.steady_phrases import FOUND, SteadyPhrase, find_steady_phrases
from headway.file_format import check_writer, read_small_file
from headway.files import replace_text

FILE = "stand_ins.json"
FORMAT = 2  # in format 1, which no released version wrote, there was no gap
MAX_BYTES = 64 << 20  # a pair of languages has 200,000 mostly, and 2 million at most
MAX_FORMS = 50  # translations of a phrase
MAX_NEIGHBORS = 200  # words beside a phrase; the first files had so many
LONGEST = 200  # characters of a text


class LearnedPhrases(NamedTuple):
    """What was learned for a pair of languages.

    Attributes:
        phrases: That most lines translate in the same way.
        gap: The places with nothing between two words.
    """

    phrases: Sequence[SteadyPhrase]
    gap: Gap


def learn_placeholder_words(sources: Sequence[str], translations: Sequence[str]) -> LearnedPhrases:
    """Learn from raw text and as many translations."""
    phrases = find_steady_phrases(sources, translations)
    return LearnedPhrases(phrases, count_gaps(sources, phrases))


def save_placeholder_words(directory: Path, learned: Mapping[str, LearnedPhrases]) -> None:
    """Write ``stand_ins.json``.

    Args:
        directory: Of the model.
        learned: For each pair of languages, such as "en-de".
    """
    pairs = {
        name: {"phrases": [each._asdict() for each in some.phrases], "gap": some.gap._asdict()}
        for name, some in learned.items()
    }
    values = {"format": FORMAT, "headway": __version__, "pairs": pairs}
    replace_text(
        directory / FILE, json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
    )


def load_placeholder_words(directory: Path | None) -> dict[str, LearnedPhrases]:
    """Return what was learned for each pair of languages of a model; none: it has no ``stand_ins.json`` of this format.

    Raises:
        OtherVersionError: If another Headway wrote the file, and this one does not understand it.
        HeadwayError: If the file is damaged.
    """
    if directory is None or not (file := directory / FILE).is_file():
        return {}
    values = read_small_file(file, FORMAT, MAX_BYTES)
    if values["format"] < FORMAT:
        return {}
    with check_writer(file, values):
        try:
            return _parse(values)
        except ValueError as error:
            raise HeadwayError(f"{file}: damaged: {error}") from None


def _parse(values: Mapping[str, object]) -> dict[str, LearnedPhrases]:
    pairs = values.get("pairs")
    if not isinstance(pairs, dict):
        raise ValueError("pairs must be an object")
    return {name: _parse_learned(each) for name, each in pairs.items()}


def _parse_learned(values: object) -> LearnedPhrases:
    if not isinstance(values, dict) or values.keys() != set(LearnedPhrases._fields):
        raise ValueError(f"a pair must have the fields {', '.join(LearnedPhrases._fields)}")
    if not isinstance(values["phrases"], list):
        raise ValueError("phrases must be a list")
    phrases = [_parse_phrase(each) for each in values["phrases"][:FOUND]]
    return LearnedPhrases(phrases, _parse_gap(values["gap"]))


def _parse_gap(values: object) -> Gap:
    if not isinstance(values, dict) or values.keys() != set(Gap._fields):
        raise ValueError(f"gap must have the fields {', '.join(Gap._fields)}")
    pairs = values["pairs"]
    if not isinstance(pairs, dict) or not all(isinstance(some, dict) for some in pairs.values()):
        raise ValueError("the pairs of gap must be objects of counts")
    counts = [count for some in pairs.values() for count in some.values()]
    if len(counts) > PAIRS:
        raise ValueError(f"gap must have {PAIRS} pairs at most")
    if not all(_is_count(count) for count in (*counts, values["places"], values["phrases"])):
        raise ValueError("the counts of gap must be numbers from 0 to 1e9")
    return Gap(pairs, values["places"], values["phrases"])


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
    if not all(isinstance(some, dict) and len(some) <= MAX_NEIGHBORS for some in counts):
        raise ValueError(f"before and after must have {MAX_NEIGHBORS} counts at most")
    if not all(_is_count(count) for some in counts for count in some.values()):
        raise ValueError("the counts of before and after must be numbers from 0 to 1e9")
    if not _is_count(lines):
        raise ValueError("lines must be a number from 0 to 1e9")
    return SteadyPhrase(values["text"], values["initial"], tuple(translations), lines, *counts)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= LONGEST


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1e9
