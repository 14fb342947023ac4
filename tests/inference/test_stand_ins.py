"""A model reads the phrase that fits between the words beside a placeholder, and the file of phrases is checked."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.inference import Translator
from headway.inference.segments.stand_in_file import FILE, load_phrases, save_phrases
from headway.text.steady_phrases import SteadyPhrase

PHRASES = [
    SteadyPhrase("a cat", "A cat", ("die Katze", "eine Katze"), 23, {"": 19}, {"sees": 11, ".": 3}),
    SteadyPhrase("two", "Two", ("zwei",), 17, {"": 13, "the": 5}, {"houses": 7}),
    SteadyPhrase("dog", "Dog", ("Hund",), 11, {"the": 5}, {"sees": 2}),
]
SEARCH = SearchConfig(max_extra=7)


@pytest.fixture
def learned(translator: Translator, tmp_path: Path) -> Translator:
    """The random model, which has learned the phrases."""
    translator.save_pretrained(tmp_path)
    save_phrases(tmp_path, {"-".join(translator.languages): PHRASES})
    return Translator.load(tmp_path)


def read(translator: Translator, line: str) -> list[str]:
    """Return what the model reads for a line, if it reads something in the place of names."""
    [segment] = translator.split(line)
    return [reading.text for reading in segment.readings if reading.names]


def test_the_words_beside_a_placeholder_choose_what_the_model_reads(learned: Translator) -> None:
    assert read(learned, "{name} sees the house.") == ["A cat sees the house."]
    assert read(learned, "the tree sees {name}.") == ["the tree sees a cat."]
    assert read(learned, "the {n} houses") == ["the two houses"]
    assert read(learned, "the {name} sees it") == ["the dog sees it"]
    assert read(learned, "{a} sees the {b}. {c} houses") == ["A cat sees the dog. Two houses"]
    # A phrase that the sentence has already cannot be told from the stand-in.
    assert read(learned, "A cat, {name} sees it") == ["A cat, dog sees it"]


def test_placeholders_take_the_places_of_the_translations(learned: Translator) -> None:
    lines = [
        "{name} sees the house.",
        "the {n} houses of {name}",
        "{a} and {b} and {c} and {d}",
        "5 kg {n}",
    ]
    together = learned.translate(lines, SEARCH)
    for line, text in zip(lines, together, strict=True):
        for kept in re.findall(r"\{\w\w*\}", line):
            assert text.count(kept) == 1, (line, text)
        assert learned.translate(line, SEARCH) == text


def test_lines_without_placeholders_do_not_change(
    learned: Translator, translator: Translator
) -> None:
    lines = ["a cat sees two houses", "the dog"]
    assert list(learned.stream(lines, SEARCH)) == list(translator.stream(lines, SEARCH))


def test_the_file_holds_the_phrases_and_goes_with_the_model(
    learned: Translator, tmp_path: Path
) -> None:
    learned.save_pretrained(tmp_path / "copy")
    assert list(load_phrases(tmp_path / "copy").values()) == [PHRASES]
    assert load_phrases(tmp_path / "none") == load_phrases(None) == {}


def change(field: str, value: object) -> Callable[[dict[str, object]], None]:
    """Return what changes a field of a stored phrase."""
    return lambda phrase: phrase.update({field: value})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (change("translations", []), "translations must be"),
        (change("translations", ["a", 3]), "must be texts"),
        (change("text", ""), "must be texts"),
        (change("text", "a" * 999), "must be texts"),
        (change("before", {"a": -1}), "counts of before"),
        (change("after", 7), "before and after"),
        (change("lines", True), "lines must be"),
        (lambda phrase: phrase.pop("lines"), "must have the fields"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, damage: Callable[[dict[str, object]], None], message: str
) -> None:
    save_phrases(tmp_path, {"en-de": PHRASES})
    values = json.loads((tmp_path / FILE).read_text())
    damage(values["pairs"]["en-de"][0])
    (tmp_path / FILE).write_text(json.dumps(values))
    with pytest.raises(HeadwayError, match=rf"stand_ins\.json: damaged: .*{message}"):
        load_phrases(tmp_path)
