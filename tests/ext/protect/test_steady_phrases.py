"""Phrases that are translated in the same way are found, with their forms and with the words beside them."""

import re

import pytest

from headway.ext.protect.learned_placeholder_words import (
    COUNTS,
    find_phrases,
    find_steady_phrases,
)
from headway.ext.protect.placeholder_words import list_neighbors

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


def test_numbers_of_things_are_placeholder_words_and_share_their_neighbors():
    things, verbs = ["days", "years", "miles", "men"], {"has": "hat", "sees": "sieht"}
    pairs = [
        (f"It {verb} {n} {thing}, {n + 10}.", f"Es {translated} {n} {thing}x, {n + 10}.")
        for n in range(2, 8)
        for thing in things
        for verb, translated in [*verbs.items()] * 3
    ]
    found = [p for p in find_steady_phrases(*zip(*pairs, strict=True)) if p.text.isdigit()]
    assert len(found) == COUNTS
    for phrase in found:
        assert phrase.text in "234567"  # what stands before a mark is no number of things
        assert phrase.translations == [phrase.text]
        assert phrase.lines == 6 * 24 // COUNTS
        assert phrase.before == dict.fromkeys(verbs, 6 * 12 // COUNTS)
        assert phrase.after == dict.fromkeys(things, 6 * 6 // COUNTS)
    # Not where the translation has no number.
    words = [(a, re.sub(r"\d+", "viele", b)) for a, b in pairs]
    assert not [p for p in find_steady_phrases(*zip(*words, strict=True)) if p.text.isdigit()]


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
    assert found["two"].translations[0] == "2"
    assert not any(any(map(str.isdigit, text)) for text in found)


def test_phrases_are_whole_words():
    assert [*find_phrases("यह किताब है")] == ["यह", "यह किताब", "किताब", "किताब है", "है"]
    assert [*find_phrases("A man, a-b")] == ["a", "a man", "man", "b"]


def test_neighbors_are_whole_words():
    assert list_neighbors("किताब पढ़ी") == [("", "किताब"), ("^किताब", "पढ़ी"), ("पढ़ी", "")]
