"""Words, with spaces between them and without."""

import random
import re
import sys
import unicodedata

from headway.text.words import (
    LETTERS,
    MARK,
    WORD,
    find_words,
    is_word_character,
    simplify_breaks,
    turn_marks_to_letters,
    word_at,
)
from support.cases import each_case


@each_case
def test_words_of_scripts_with_and_without_spaces(text, words):
    spans = find_words(text)
    assert [text[start:end] for start, end in spans] == words
    assert find_words(text, 5) == [(start + 5, end + 5) for start, end in spans]
    for number, (start, end) in enumerate(spans):
        assert word_at(spans, start) == word_at(spans, end - 1) == number


@each_case
def test_characters_of_line_breaks_become_common_ones(text, plain):
    assert simplify_breaks(text) == plain
    assert len(find_words(text)) == len(find_words(plain))


def test_a_text_with_simple_breaks_has_as_many_words():
    chooser = random.Random(1)
    for _ in range(5_000):
        drawn = chooser.choices(
            "ab 漢カ「-(.\u00ad\u2060\ufeff\u00a0\u2010\u2002\u0301ก\u200b\u200d\u200e\t\x85\ufe0f",
            k=5,
        )
        text = "".join(drawn).strip()
        assert len(find_words(simplify_breaks(text))) == len(find_words(text)), ascii(text)


def test_combining_marks_are_parts_of_words_in_regular_expressions():
    marks = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M"]
    assert len(marks) > 2000
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert re.findall(f"[{MARK}]", everything) == marks
    assert re.findall(WORD, "किताबें caf\u0065\u0301s_2, a1 ❤\ufe0f") == [
        "किताबें",
        "cafe\u0301s_2",
        "a1",
    ]
    assert re.findall(LETTERS, "किताबें2 e\u0301te\u0301_a") == ["किताबें", "e\u0301te\u0301", "a"]
    letters = turn_marks_to_letters("".join(marks))
    assert letters.isalpha()
    assert len({*letters}) == len(marks)
    assert turn_marks_to_letters("plain é犬") == "plain é犬"
    assert all(map(is_word_character, "का"))
