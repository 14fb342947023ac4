"""``stand_ins.json``: what a model reads in the place of placeholders.

Phrases are learned from a text with its translation, such as the training text, by counting
(`headway.ext.protect.steady_phrases`), and so are the places with nothing (`headway.ext.protect.gaps`). A model without the file
reads words that it copies.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.protect.gaps import PAIRS, Gap, count_gaps
from headway.ext.protect.steady_phrases import FOUND, SteadyPhrase, find_steady_phrases
from headway.files import check_writer, read_small_file, replace_text

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


def _parse(values: Mapping[str, Any]) -> dict[str, LearnedPhrases]:
    pairs: Any = values.get("pairs")
    if not _has_form(pairs, (dict, _LEARNED, MAX_BYTES)):
        raise ValueError("its pairs of languages are not as a training writes them")
    found = {}
    for name, each in pairs.items():
        phrases = [SteadyPhrase(**phrase) for phrase in each["phrases"][:FOUND]]
        phrases = [each._replace(translations=tuple(each.translations)) for each in phrases]
        found[name] = LearnedPhrases(phrases, Gap(**each["gap"]))
        if sum(map(len, found[name].gap.pairs.values())) > PAIRS:
            raise ValueError(f"gap must have {PAIRS} pairs at most")
        if not all(phrase.translations for phrase in phrases):
            raise ValueError("a phrase has no translation")
    return found


def _has_form(value: Any, form: Any) -> bool:
    """Return whether a JSON value has a form.

    Args:
        value: Anything.
        form: A function that accepts it; of an object the forms of its fields; or of a list or an object the type, the
            form of its values, and how many it may have.
    """
    if isinstance(form, dict):
        return (
            isinstance(value, dict)
            and value.keys() == form.keys()
            and all(_has_form(value[field], own) for field, own in form.items())
        )
    if not isinstance(form, tuple):
        return bool(form(value))
    kind, own, most = form
    if not isinstance(value, kind) or len(value) > most:
        return False
    return all(_has_form(each, own) for each in (value.values() if kind is dict else value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= LONGEST


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1e9


_NEIGHBORS = dict, _is_count, MAX_NEIGHBORS
_PHRASE = {
    "text": _is_text,
    "initial": _is_text,
    "translations": (list, _is_text, MAX_FORMS),
    "lines": _is_count,
    "before": _NEIGHBORS,
    "after": _NEIGHBORS,
}
_GAP = {"pairs": (dict, (dict, _is_count, PAIRS), PAIRS), "places": _is_count, "phrases": _is_count}
_LEARNED = {"phrases": (list, _PHRASE, MAX_BYTES), "gap": _GAP}
