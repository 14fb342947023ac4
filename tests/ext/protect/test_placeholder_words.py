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
    find_phrases,
    find_steady_phrases,
    learn_placeholder_words,
)
from headway.ext.protect.placeholder_words import (
    FILE,
    MAX_BYTES,
    NO_GAP,
    NUMBERS,
    Gap,
    LearnedPhrases,
    PlaceholderWord,
    PlaceholderWords,
    SteadyPhrase,
    list_neighbors,
    load_placeholder_words,
    save_placeholder_words,
)
from headway.ext.protect.text_masking import MarkedText
from headway.translation import Translator, spell_words
from headway.translation.saving import hash_model
from support.cases import each_case, own_rows, read_rows
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

    def __init__(self, *words, gap=NO_GAP):
        self.known = [*words], gap


def read_with(translator, line, words):
    """Return what a model that has only some placeholder words reads for a line."""
    marked = MarkedText(line, translator.tokenizer, True, None, words, translator.languages)
    masked = marked.mask(marked.text)
    assert masked is not None
    return masked.text


@each_case
def test_the_words_beside_a_placeholder_choose_what_the_model_reads(learned, line, expected):
    """It may stand for nothing between words that often stand together, but a number with its unit never does."""
    assert read(learned, line) == expected


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


def test_what_a_piece_has_is_no_placeholder_word(learned):
    words = Words(PlaceholderWord(PHRASES[2], ((5,),)), gap=Gap({"": {"!": 9}}, 9, 9))
    assert read_with(learned, "{name}!", words) == "Dog!"
    # Then the model reads the name itself.
    assert read_with(learned, "{name}'s dog", words) == "{name}'s dog"
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


VERBS, NOUNS = ["see", "hear", "like"], ["dog", "cat", "tree", "car", "cup"]
COUNT = 20
LINES = [
    line
    for n in range(COUNT)
    for verb, noun in [(VERBS[n % 3], NOUNS[n % 5])]
    for line in [
        (f"People {verb} {noun}.", f"Leute {verb.upper()} {noun}x."),
        (f"Bears {verb}.", f"B{n % 3} {verb.upper()}."),
        (f"w{n} and v{n}.", f"w{n} und v{n}."),
        (f"Two {noun}s.", f"Zwei {noun}y."),
        *[(f"{noun} {verb} people.", f"{noun}x {verb.upper()} Leuten.")] * (n < 4),
        *[(f"The two {noun}s.", f"Die zwei {noun}y.")] * (n < 3),
    ]
]


def test_a_steady_phrase_has_all_its_forms_and_neighbors():
    found = {phrase.text: phrase for phrase in find_steady_phrases(*zip(*LINES, strict=True))}
    people, two = found["people"], found["two"]
    assert (people.initial, people.lines) == ("People", COUNT + 4)
    assert people.translations == ["Leute", "Leuten"]
    assert people.before == {"": COUNT, "see": 2, "hear": 1, "like": 1}
    assert people.after == {"see": 7, "hear": 7, "like": 6, ".": 4}
    assert set(two.translations) == {"Zwei", "zwei"}
    assert people.fit("see", ".") > two.fit("see", ".")
    assert people.fit("the", "trees") < two.fit("the", "trees")


def test_what_is_not_steady_or_only_joins_words_is_no_placeholder_word():
    found = {phrase.text.casefold() for phrase in find_steady_phrases(*zip(*LINES, strict=True))}
    assert "people" in found
    assert "bears" not in found  # three translations
    assert "and" not in found  # after any word
    assert "the two" not in found  # in too few lines
    assert find_steady_phrases([], []) == []


def test_a_phrase_of_which_only_one_word_is_translated_is_no_placeholder_word():
    pairs = [(f"People do {noun}.", f"Leute {noun}x.") for noun in "abcdefghijkl"]
    found = find_steady_phrases(*zip(*pairs, strict=True))
    assert [phrase.text for phrase in found if "people" in phrase.text.casefold()] == ["People"]


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_translation_of_two_steady_words_joins_theirs(share):
    """Nouns have one translation, and one line in so many of "un dog" has another article than "a"."""
    pairs = [
        (f"Un {noun} {verb}.", f"{article} {noun}x {verb}y.")
        for noun in ("dog", "cat", "tree", "car", "cup", "hat")
        for n, verb in enumerate("abcdefghij")
        for article in ["a" if noun != "dog" or n < 10 * share else "the"]
    ]
    found = {p.text: p.translations for p in find_steady_phrases(*zip(*pairs, strict=True))}
    assert found["dog"] == ["dogx"]
    assert found["Un"][0] == "a"
    assert found.get("Un dog") == (["a dogx"] if share > 0.65 else None)
    # In another order, too.
    turned = [(a, b.replace("a dogx", "dogx a")) for a, b in pairs]
    found = {p.text: p.translations for p in find_steady_phrases(*zip(*turned, strict=True))}
    assert found.get("Un dog") == (["dogx a"] if share > 0.65 else None)


def test_rare_phrases_are_found_behind_frequent_ones():
    """What stands between two words is often a name, and the names of places are many and rare."""
    verbs = [f"verb{chr(97 + n)}" for n in range(26)] * 2
    towns = [f"Town{chr(97 + n)}" for n in range(26)]
    pairs = [
        (f"They {verb} in {town}.", f"Sie {verb}en in {town}burg.")
        for n, town in enumerate(towns)
        for verb in verbs[n : n + 12]
    ]
    found = {phrase.text for phrase in find_steady_phrases(*zip(*pairs, strict=True))}
    assert {*towns, *verbs} <= found


FORMS = {"{}": "{}", "{} days": "{} Tage", "{} miles": "{} Meilen", "€{}": "{} €", "{}%": "{} %"}
NUMBERS_OF_KINDS = {
    "65": ["7", "23", "786,000", "1,000"],
    "65.65": ["12.30", "5.25", "1,234.50"],
    "1965": ["1808", "1987", "2042"],
}
NEAR_NUMBERS, MARKS = {"lasts": "dauert", "sees": "sieht"}, {".", ",", "!"}


@pytest.mark.parametrize(("written", "numbers"), NUMBERS_OF_KINDS.items())
def test_numbers_and_amounts_are_placeholder_words_and_share_their_neighbors(written, numbers):
    swapped = str.maketrans(",.", ".,")
    pairs = [
        (f"It {verb} {source.format(n)}{mark}", f"Es {other} {form.format(n.translate(swapped))}{mark}")
        for source, form in FORMS.items()
        for verb, other in NEAR_NUMBERS.items()
        for mark in sorted(MARKS)
        for n in numbers
    ]  # fmt: skip
    found = {p.text: p for p in learn_placeholder_words(*zip(*pairs, strict=True)).phrases}
    for source, form in FORMS.items():
        phrase = found[source.format(written)]
        assert phrase.translations == [form.format(written.translate(swapped))]
        assert phrase.before.keys() == NEAR_NUMBERS.keys()
        assert phrase.after.keys() >= MARKS
    # Not where the translation has no number.
    words = [(a, re.sub(r"\d[\d.,]*", "viele", b)) for a, b in pairs]
    left = learn_placeholder_words(*zip(*words, strict=True)).phrases
    assert not [p.text for p in left if any(map(str.isdigit, p.text))]


WITH_NUMBERS = [
    SteadyPhrase(text, text, [text], 11, before, after)
    for text, before, after in (
        *((n, {"in": 5}, {"cars": 5}) for n in NUMBERS),
        ("€65.65", {"costs": 5}, {".": 5}),
        ("65 weeks", {"for": 5}, {".": 5}),
        ("Rome", {"from": 5}, {".": 1}),
        ("dog", {"the": 5, "costs": 9}, {"cars": 9}),
    )
]
COUNTS = read_rows(__file__, "COUNTS")
VALUES = ["{0}", "%s", "{x}", "%1$s"]
PRICES = ["12.30 EUR", "EUR 12.30", "1,234.50 EUR", "USD 40", "7 €", "{price}", "%(total_cost)s"]
LENGTHS = ["5 kg", "12 km/h", "60 W", "3.5 GB", "-4 °C"]
TRADEMARKS = ["Acme™", "Widgets®", "AT&T®", "Élan™", "X-Tool™"]


@pytest.mark.parametrize(
    "line", ["There are * lamps here.", "* lamps", "All * of them", "He has * left"]
)
@pytest.mark.parametrize(
    ("kept", "read_as"),
    [
        (COUNTS, "65"),
        (VALUES, "65"),
        (PRICES, "€65.65"),
        (LENGTHS, "65 weeks"),
        (TRADEMARKS, "Rome"),
    ],
)
def test_the_model_reads_a_number_for_a_number_wherever_it_stands(translator, line, kept, read_as):
    spelled = spell_words(translator.tokenizer, ["x"])
    words = [PlaceholderWord(each, spelled) for each in WITH_NUMBERS]
    gap = Gap({"the": {"lamps": 50}}, 9, 9)
    for each in kept:
        found = read_with(translator, line.replace("*", each), Words(*words, gap=gap))
        assert re.sub("<.*?>", "", found) == line.replace("*", read_as), each


def test_the_neighbors_of_a_quantity_choose_among_words_of_its_kind(translator):
    words = [PlaceholderWord(each, ((n,),)) for n, each in enumerate(WITH_NUMBERS)]
    gap = Gap({"the": {"lamps": 50}, "user": {"has": 50}}, 9, 9)
    for line, expected in own_rows():
        assert read_with(translator, line, Words(*words, gap=gap)) == expected


def test_a_phrase_of_which_a_word_is_lost_is_no_placeholder_word():
    pairs = [
        (f"{verb} un gars de {noun}.", f"{verb}x guy {n % 9} {noun}y.")
        for n, (verb, noun) in enumerate((v, w) for v in "abcdef" for w in "ghijkl")
    ]
    found = {p.text for p in find_steady_phrases(*zip(*pairs, strict=True))}
    assert not {"un gars", "gars de"} & found


def test_numbers_are_parts_of_times_and_no_placeholder_words():
    pairs = [
        *[(f"They {c} two.", f"Sie {c} 2.") for c in "abc" * 4],
        *[(f"They {c}.", f"Sie {c}.") for c in "abc" * 4],
        *[(f"We {c} at 5:30.", f"Wir {c} um 5:30.") for c in "abc" * 4],
    ]
    found = {phrase.text: phrase for phrase in find_steady_phrases(*zip(*pairs, strict=True))}
    assert "They" in found
    assert "two" not in found  # its translation stands for any number
    assert not any(any(map(str.isdigit, text)) for text in found)


def test_phrases_are_whole_words():
    assert [*find_phrases("यह किताब है")] == ["यह", "यह किताब", "किताब", "किताब है", "है"]
    assert [*find_phrases("A man, a-b")] == ["a", "a man", "man", "b"]


def test_neighbors_are_whole_words():
    assert list_neighbors("किताब पढ़ी") == [("", "किताब"), ("^किताब", "पढ़ी"), ("पढ़ी", "")]
