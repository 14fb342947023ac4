"""Numbers of a text and its translation agree in whatever form languages write them, and a changed one is found."""

import random
import re

import pytest

from headway.ext.protect import count_different_numbers, spell_numbers
from support.bounds import grows_less
from support.cases import each_case, read_rows


@pytest.mark.parametrize(
    ("source", "translation"),
    [*read_rows(__file__, "test_forms_of_a_number_agree"), ("7" * 5000, "7" * 5000)],
)
def test_forms_of_a_number_agree(source, translation):
    for pair in ((source, translation), (translation, source)):
        assert count_different_numbers(*pair) == 0


@each_case
def test_other_numbers_differ(source, translation, different):
    for pair in ((source, translation), (translation, source)):
        assert count_different_numbers(*pair) == different


def test_numbers_in_one_text_only_are_counted():
    assert count_different_numbers("21 of 35 at 3:20 PM", "21 von 36 um 15:20 Uhr") == 2
    assert count_different_numbers("one of 12", "einer von 12") == 0


def test_marks_in_any_order_are_read():
    chooser = random.Random(1)
    letters = "0123456789:., apmAPM٣²½KUhr千\u202f-"
    for _ in range(200):
        text, other = ("".join(chooser.choices(letters, k=23)) for _ in range(2))
        assert count_different_numbers(text, text) == 0
        assert count_different_numbers(text, other) == count_different_numbers(other, text)
        assert all(spell_numbers(text))


def test_the_time_to_compare_is_linear():
    def compare(count):
        texts = [" ".join(str(first + n) for n in range(count)) for first in (1000, 500_000)]
        assert count_different_numbers(*texts) == 2 * count

    assert grows_less(compare, 1_000, times=9)


def test_forms_are_those_that_a_translation_may_have():
    text = "at 3:20 PM, 12:30:54 AM or 17:05, 1,000.5 of 14 thousand, 7 and 30"
    assert [*spell_numbers(text)] == [
        ["3:20", "15:20"],
        ["12:30:54", "00:30:54"],
        ["17:05", "5:05"],
        ["1,000.5", "1.000,5"],
        ["30"],
    ]


def test_right_translations_agree_and_changed_ones_do_not():
    pytest.importorskip("babel")
    pytest.importorskip("num2words")
    from headway.ext.demo import generate

    chooser = random.Random(2)
    pairs = [(e.source, e.target) for e in generate("en", "de", 700, seed=3)]
    changed = found = dropped = missed = 0
    for source, target in pairs:
        assert count_different_numbers(source, target) == 0, (source, target)
        numbers = [n for n in re.finditer(r"\d+(?:[.,:]\d+)*", target) if len(n[0]) > 2]
        if not numbers:
            continue
        start, end = chooser.choice(numbers).span()
        place = chooser.choice([n for n in range(start, end) if target[n].isdigit()])
        digit = chooser.choice([d for d in "123456789" if d != target[place]])
        changed += 1
        found += count_different_numbers(source, target[:place] + digit + target[place + 1 :]) > 0
        dropped += 1
        missed += count_different_numbers(source, target[:start] + target[end:]) == 0
    assert changed > 200
    assert found >= 0.99 * changed  # a month of digits has a name in the other text
    assert missed <= 0.01 * dropped
