"""A model reads the phrase that fits between the words beside a placeholder, and the file of phrases is checked."""

import json
import re

import pytest

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.protect.learned_placeholder_words import (
    FOUND,
    NEIGHBORS,
    PAIRS,
    learn_placeholder_words,
)
from headway.ext.protect.marked_text import MarkedText
from headway.ext.protect.placeholder_words import (
    FILE,
    MAX_BYTES,
    Gap,
    LearnedPhrases,
    PlaceholderWord,
    PlaceholderWords,
    SteadyPhrase,
    load_placeholder_words,
    save_placeholder_words,
)
from headway.translation import Translator
from headway.translation.saving import hash_model
from support.pieces import cut

PHRASES = [
    SteadyPhrase("a cat", "A cat", ["die Katze", "eine Katze"], 23, {"": 19}, {"sees": 11, ".": 3}),
    SteadyPhrase("two", "Two", ["zwei"], 17, {"": 13, "^the": 5}, {"houses": 7}),
    SteadyPhrase("dog", "Dog", ["Hund"], 11, {"the": 5, "^the": 5}, {"sees": 2}),
]
LEARNED = LearnedPhrases(PHRASES, Gap({"tree": {"sees": 40}, "": {"the": 90}}, 510, 51))
SEARCH = SearchConfig(max_extra=7)


@pytest.fixture
def learned(translator, tmp_path):
    """The random model, which has learned the phrases."""
    translator.save_pretrained(tmp_path)
    save_placeholder_words(tmp_path, {"-".join(translator.languages): LEARNED})
    return Translator.load(tmp_path)


def read(translator, line):
    """Return what the model reads for a line."""
    [piece] = cut(translator, line)
    return piece.masked_source.text


class Words(PlaceholderWords):
    """Some words and a gap."""

    def __init__(self, *words, gap=None):
        self.known = [*words], gap


def read_with(translator, line, words):
    """Return what a model that has only some placeholder words reads for a line."""
    marked = MarkedText(line, translator.tokenizer, keep=True, glossary=None, words=words)
    masked = marked.mask(marked.text)
    assert masked is not None
    return masked.text


def test_the_words_beside_a_placeholder_choose_what_the_model_reads(learned):
    assert read(learned, "{name} sees the house.") == "A cat sees the house."
    assert read(learned, "the tree sees {name}.") == "the tree sees a cat."
    assert read(learned, "the {n} houses") == "the two houses"
    assert read(learned, "the {name} sees it") == "the dog sees it"
    assert read(learned, "{a} sees the {b}. {c} houses") == "A cat sees the dog. Two houses"
    assert read(learned, "<i><b>{name}</b></i> sees it") == "A cat sees it"
    # A phrase that the sentence has already cannot be told from the placeholder word.
    assert read(learned, "A cat, {name} sees it") == "A cat, dog sees it"


def test_a_placeholder_word_is_not_taken_for_another_word_with_its_translation(translator):
    """Dog and hound are one word of the target language, which "a dog" contains."""

    def make(text, tokens, count):
        return PlaceholderWord(SteadyPhrase(text, text, (text,), 9, {}, {"sees": count}), (tokens,))

    dog, hound, cat = make("dog", (5,), 7), make("hound", (5,), 5), make("cat", (6,), 3)
    whole, frequent = make("a dog", (4, 5), 1), make("a dog", (4, 5), 9)
    for line, words, expected in (
        ("{name} sees it", (dog, hound, cat), "dog sees it"),
        ("{name} sees the hound", (dog, hound, cat), "cat sees the hound"),
        ("{a} sees that {b} sees", (dog, hound, cat), "dog sees that cat sees"),
        ("{name} sees a dog", (dog, hound, cat, whole), "cat sees a dog"),
        ("{name} sees a hound", (hound, whole), "a dog sees a hound"),
        # Of two placeholder words none may be a part of the other.
        ("{a} sees that {b} sees", (dog, whole, cat), "dog sees that cat sees"),
        ("{a} sees that {b} sees", (frequent, dog, cat), "a dog sees that cat sees"),
    ):
        assert read_with(translator, line, Words(*words)) == expected


def test_a_placeholder_between_words_that_often_stand_together_may_stand_for_nothing(learned):
    assert read(learned, "the tree {name} sees it") == "the tree  sees it"
    assert read(learned, "the tree <b>{name}</b> sees it") == "the tree  sees it"
    assert read(learned, "{name} the {n} houses") == " the two houses"
    # A word goes on with the placeholder, so that it stands for something.
    assert read(learned, "the tree {name}-sees it") == "the tree dog-sees it"
    # So it does between two marks, as of quotes, and where nothing else is left of a piece.
    assert read(learned, 'The house sees "{name}".') == 'The house sees "dog".'
    assert read(learned, "The house, {name}.") == "The house, a cat."
    words = Words(PlaceholderWord(PHRASES[2], ((5,),)), gap=Gap({"": {"!": 9}}, 9, 9))
    assert read_with(learned, "{name}!", words) == "Dog!"
    # A phrase that the piece has is no placeholder word; then the model reads the name itself.
    assert read_with(learned, "{name}'s dog", words) == "{name}'s dog"


def test_a_number_with_its_unit_never_stands_for_nothing(learned):
    assert read(learned, "the tree {name} sees it") == "the tree  sees it"
    assert read(learned, "the tree 5 km sees it") == "the tree a cat sees it"
    assert learned.translate("the tree 5 km sees it", SEARCH).count("5 km") == 1


def test_gaps_are_counted_in_the_source_text():
    sources = [*["The cat sees the dog.", "The cat, it sees."] * 20, "Yes"]
    translations = [*["Katze sieht Hund", "Katze, sie sieht"] * 20, "Ja"]
    phrases, gap = learn_placeholder_words(sources, translations)
    assert gap.pairs["^the"] == {"cat": 40}  # the first words
    assert gap.pairs["the"] == {"dog": 20}
    assert "yes" not in str(gap.pairs)  # once
    assert gap.pairs[""] == {"the": 40}
    assert gap.pairs["."] == {"": 40}
    assert gap.places == 20 * (7 + 7) + 2
    assert gap.phrases == sum(phrase.lines for phrase in phrases) > 0
    assert gap.fit("^the", "cat") > gap.fit("the", "dog") > gap.fit("the", "it")


def test_placeholders_take_the_places_of_the_translations(learned):
    lines = ["{name} sees the house.", "{a} and {b} and {c} and {d}", "5 kg {n}"]
    translations = learned.translate(lines, SEARCH)
    for line, text in zip(lines, translations, strict=True):
        for kept in re.findall(r"\{\w\w*\}", line):
            assert text.count(kept) == 1, (line, text)
        assert learned.translate(line, SEARCH) == text


def test_lines_without_placeholders_do_not_change(learned, translator):
    lines = ["a cat sees two houses", "the dog"]
    assert list(learned.stream(lines, SEARCH)) == list(translator.stream(lines, SEARCH))


def test_the_file_holds_the_phrases_and_goes_with_the_model(learned, tmp_path):
    learned.save_pretrained(tmp_path / "copy")
    assert list(load_placeholder_words(tmp_path / "copy").values()) == [LEARNED]
    assert load_placeholder_words(tmp_path / "none") == load_placeholder_words(None) == {}


def test_the_largest_file_of_many_languages_can_be_read(tmp_path):
    words = [f"{n:04}{'ж' * 8}" for n in range(PAIRS)]
    counts = dict.fromkeys(words[:NEIGHBORS], 10_000)
    phrases = [SteadyPhrase(word, word, [word], 9999, counts, counts) for word in words[:FOUND]]
    learned = LearnedPhrases(phrases, Gap({word: {word: 9999} for word in words}, 9, 9))
    save_placeholder_words(tmp_path, {"xx-yy": learned})
    assert load_placeholder_words(tmp_path) == {"xx-yy": learned}
    assert (tmp_path / FILE).stat().st_size * 24 < MAX_BYTES


def change(field, value):
    """Return what changes a field of the first stored phrase."""
    return lambda pair: pair["phrases"][0].update({field: value})


@pytest.mark.parametrize(
    "damage",
    [
        change("translations", []),
        change("translations", ["a", 3]),
        change("text", " "),
        change("before", {"a": -1}),
        change("after", 7),
        change("lines", True),
        lambda pair: pair["phrases"][0].pop("lines"),
        lambda pair: pair.pop("gap"),
        lambda pair: pair.update(phrases=3),
        lambda pair: pair["gap"].update(places="3"),
        lambda pair: pair["gap"]["pairs"].update(a=3),
        lambda pair: pair["gap"]["pairs"].update(a={"b": -1}),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path, damage):
    save_placeholder_words(tmp_path, {"en-de": LEARNED})
    values = json.loads((tmp_path / FILE).read_text())
    damage(values["pairs"]["en-de"])
    (tmp_path / FILE).write_text(json.dumps(values))
    with pytest.raises(HeadwayError, match=r"stand_ins\.json: damaged: .+\Z"):
        load_placeholder_words(tmp_path)


def test_what_stands_for_placeholders_decides_translations(tmp_path):
    """So that a half-written output does not go on with other placeholder words."""
    (tmp_path / "config.json").write_text("{}")
    hashes = [hash_model(tmp_path)]
    for content in ("{}", "{ }"):
        (tmp_path / FILE).write_text(content)
        hashes.append(hash_model(tmp_path))
    assert len({*hashes}) == 3
