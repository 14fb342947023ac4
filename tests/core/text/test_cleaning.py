"""Each rule of cleaning drops its pairs, can be switched off, and is counted."""

import json
import random
import sys
import unicodedata
from dataclasses import replace

import pytest

from headway.config import TextConfig
from headway.text import Damaged, Pair
from headway.text.cleaning import FoundPairs, Rule, broken_rule, digest_texts
from headway.text.preparation import selection
from support.cases import read_rows
from support.range_cleaning import clean

OFF = TextConfig(
    drop_empty=False,
    drop_control=False,
    max_characters=0,
    max_ratio=0,
    drop_duplicates=False,
    drop_identical=False,
    max_copied=0,
    drop_leaks=False,
)
GOOD = [Pair(f"sentence {n} of many", f"Satz {n} von vielen", n) for n in range(1, 14)]
UNSEEN = digest_texts([("A  leak\tHERE", " ein LECK hier")])


def cleaned(pairs, config, unseen=None):
    kept, _, report = clean(pairs, config, unseen)
    return kept, report


# A pair that the rule drops, and the only setting that enables the rule (None: it is always on).
CASES = [
    (Rule.UNREADABLE, Damaged("corpus.en", 99, "not UTF-8"), None),
    (Rule.EMPTY, Pair(" \u3000\t", "etwas", 99), {"drop_empty": True}),
    (Rule.EMPTY, Pair("something", "\u2028", 99), {"drop_empty": True}),
    (Rule.CONTROL, Pair("a\0b", "ein Wort", 99), {"drop_control": True}),
    (Rule.CONTROL, Pair("a word", "ein\x93 Wort", 99), {"drop_control": True}),
    (Rule.UNREADABLE, Pair("a word", "\ud83d", 99), None),
    (Rule.LONG, Pair("word " * 41, "Wort " * 41, 99), {"max_characters": 203}),
    (Rule.RATIO, Pair("w" * 5, "W" * 36, 99), {"max_ratio": 3.0}),
    (Rule.IDENTICAL, Pair("Ottawa ", " Ottawa", 99), {"drop_identical": True}),
    (
        Rule.COPIED,
        Pair("All of it, untranslated.", "ALL of it untranslated", 99),
        {"max_copied": 0.9},
    ),
    (Rule.LEAK, Pair("a leak here", "Ein Leck  hier", 99), {"drop_leaks": True}),
    (
        Rule.DUPLICATE,
        Pair(f" {GOOD[6].source}", f"{GOOD[6].target}\t", 99),
        {"drop_duplicates": True},
    ),
]


@pytest.mark.parametrize(("rule", "pair", "setting"), CASES)
def test_a_rule_drops_its_pair_unless_it_is_off(rule, pair, setting):
    on = replace(OFF, **(setting or {}))
    kept, report = cleaned([*GOOD, pair], on, UNSEEN)
    assert kept == GOOD
    assert {name: (found.count, found.lines) for name, found in report.dropped.items()} == {
        rule: (1, [99])
    }
    kept, report = cleaned([*GOOD, pair], OFF, UNSEEN)
    assert len(kept) == len(GOOD) + (setting is not None)
    assert bool(report.dropped) == (setting is None)
    assert report.leaks_kept.count == (rule == Rule.LEAK)


COMPARING = {"max_ratio": 3.0, "drop_identical": True, "max_copied": 0.8}
COPIES = [Pair(text, text, n) for n, text in enumerate(("7 1 4", "3 3", "2 9 9 1"), 1)]
SUMMARIES = [Pair(f"{n} " + "many words " * 30, "words", n) for n in range(1, 8)]


@pytest.mark.parametrize("pairs", [COPIES, SUMMARIES])
def test_one_setting_keeps_copies_and_summaries_and_the_report_names_it(pairs):
    rules = replace(OFF, **COMPARING)
    kept, report = cleaned([*pairs], rules)
    assert not kept
    assert report.advice().startswith(f"{len(pairs)} of {len(pairs)} training pairs were dropped")
    assert "--text.compare-sides false" in report.advice()
    assert report.to_text().endswith(report.advice())
    kept, report = cleaned([*pairs], replace(rules, compare_sides=False))
    assert kept == [Pair(pair.source.strip(), pair.target, pair.line) for pair in pairs]
    assert not report.advice()


def test_a_pair_exactly_at_a_limit_is_kept():
    config = replace(OFF, max_characters=23, max_ratio=2.0)
    assert broken_rule("s" * 23, "t" * 23, config) is None
    assert broken_rule("s" * 24, "t" * 23, config) == Rule.LONG
    # (longest + 10) / (shortest + 10)
    assert broken_rule("s" * 16, "t" * 3, config) is None
    assert broken_rule("s" * 17, "t" * 3, config) == Rule.RATIO
    assert broken_rule("s" * 3, "t" * 17, config) == Rule.RATIO


# Good translations of English: many have more than three times fewer characters.
ENGLISH = (
    "Everyone has the right to freedom of movement and residence within the borders of each state.",
    "All are equal before the law and are entitled without any discrimination to equal protection of the law.",
)
DENSE = read_rows(__file__, "DENSE")


@pytest.mark.parametrize("language", DENSE)
def test_characters_that_are_syllables_or_words_count_as_several_letters(language):
    rules = replace(OFF, max_ratio=3.0)
    for text, english in zip(DENSE[language], ENGLISH, strict=True):
        assert broken_rule(english, text, rules) is None
        assert broken_rule(text, english, rules) is None
        assert broken_rule(f"{english} " * 4, text, rules) == Rule.RATIO
        assert broken_rule("Yes, of course.", text * 3, rules) == Rule.RATIO
    # Among themselves.
    for text, other in zip(DENSE[language], DENSE["Chinese"], strict=True):
        assert broken_rule(text, other, rules) is None


@pytest.mark.parametrize("letter", ["x", "ß", "ж", "ת", "ก", "ក", "—", "。"])
def test_letters_and_marks_are_compared_one_by_one(letter):
    rules = replace(OFF, max_ratio=3.0)
    assert broken_rule(letter * 26, "xy", rules) is None
    assert broken_rule(letter * 27, "xy", rules) == Rule.RATIO


def test_a_target_may_share_some_words_and_all_of_them_if_they_are_few():
    config = replace(OFF, max_copied=0.5)
    half = "zwei und one two"
    assert broken_rule("one two three", half, config) is None
    assert broken_rule("one two und", half, config) == Rule.COPIED
    # Words are letters: numbers, signs and single letters are the same in every language.
    assert broken_rule("1990 - 12 : A", "1990 - 12 : A", config) is None
    assert broken_rule("Anna Schmidt, 7 Bonn", "Anna Schmidt, 7 Bonn", config) is None
    assert broken_rule("new text " + half, "x " + half, config) == Rule.COPIED


def test_control_characters_are_those_of_unicode_that_are_not_white_space():
    rest = range(0x300, sys.maxunicode + 1, 101)
    for number in (*range(0x300), *range(0xD7F0, 0xE010), *rest):
        character = chr(number)
        category = unicodedata.category(character)
        expected = Rule.CONTROL if category == "Cc" and not character.isspace() else None
        expected = Rule.UNREADABLE if category == "Cs" else expected
        on = replace(OFF, drop_control=True)
        assert broken_rule(f"a{character}b", "c", on) == expected, hex(number)


def test_cleaning_keeps_order_and_line_numbers_and_is_idempotent():
    draw = random.Random(7)
    words = ["a", "b", "", " ", "wort", "Wort", "\x07", "long " * 29]
    pairs = [
        Pair(" ".join(draw.choices(words, k=3)), " ".join(draw.choices(words, k=3)), line)
        for line in range(1, 1_009)
    ]
    config = replace(TextConfig(), max_characters=113)
    kept, report = cleaned(pairs, config)
    numbers = [pair.line for pair in kept]
    assert numbers == sorted(numbers)
    assert 0 < len(kept) < len(pairs)
    assert all(text == text.strip() for pair in kept for text in pair[:2])
    assert report.read == len(pairs)
    assert report.kept == len(kept)
    assert report.read - report.kept == sum(found.count for found in report.dropped.values())
    again, second = cleaned(list(kept), config)
    assert again == kept
    assert not second.dropped


def test_every_copy_of_a_leaked_pair_counts_as_a_leak_not_as_a_duplicate():
    leak = Pair("a leak here", "ein leck hier", 2)
    _, report = cleaned([leak, leak._replace(line=5), *GOOD], TextConfig(), UNSEEN)
    assert report.dropped[Rule.LEAK].lines == [2, 5]


@pytest.mark.parametrize("half", [{"target": "anders"}, {"source": "another"}])
@pytest.mark.parametrize("drop_leaks", [True, False])
def test_a_pair_with_one_side_in_held_out_text_is_kept_and_reported(half, drop_leaks):
    config = replace(TextConfig(), drop_leaks=drop_leaks)
    leak = Pair("a leak here", "ein leck hier", 23)._replace(**half)
    kept, report = cleaned([leak, leak, *GOOD], config, UNSEEN)
    assert kept == [leak, *GOOD]
    assert list(report.dropped) == [Rule.DUPLICATE]
    assert (report.half_leaks.count, report.half_leaks.lines) == (1, [23])
    assert report.leaks_kept.count == 0
    assert "one side" in report.to_text()


def test_repeated_text_is_found_across_ranges_and_partitions(monkeypatch):
    monkeypatch.setattr(selection, "PARTITION_RANGES", 2)
    draw = random.Random(13)
    pairs = [Pair(f"s{draw.randrange(97)}", f"t{draw.randrange(7)}", n) for n in range(1, 1_009)]
    kept, _, report = clean(list(pairs), OFF, range_pairs=89)
    assert (kept, report.kept) == (pairs, 1_008)
    kept, _, report = clean(list(pairs), replace(OFF, drop_duplicates=True), range_pairs=89)
    first = {pair[:2]: pair for pair in reversed(pairs)}
    assert kept == sorted(first.values(), key=lambda pair: pair.line)
    assert report.kept == len(kept) < 97 * 7


def test_a_report_has_counts_and_line_numbers_and_no_control_characters():
    bad = [Pair("", f"x{n}", n) for n in range(3, 20)]
    bad += [Pair("a\x1b[2J" + "z" * 200, "b", 41), Damaged("corpus.en", 43, "not UTF-8: byte 0xff")]
    _, report = cleaned([*bad, *GOOD], TextConfig())
    report.dropped[Rule.TOKENS] = FoundPairs(1, [47], "too | long")
    report.tokens = {"source": 61, "target": 67}
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["dropped"][Rule.EMPTY]["count"] == 17
    assert plain["dropped"][Rule.EMPTY]["lines"] == [3, 4, 5, 6, 7]
    assert plain["read"] == len(bad) + len(GOOD)
    text = report.to_text()
    for words in (
        Rule.EMPTY,
        Rule.CONTROL,
        "3, 4, 5, 6, 7, ...",
        "43: not UTF-8",
        "max_tokens",
        "61",
        "67",
    ):
        assert words in text
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(len(line) for line in text.split("\n")) < 180
    assert f" {len(bad) + len(GOOD)} " in text
