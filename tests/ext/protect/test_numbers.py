"""Numbers of a text and its translation agree in whatever form languages write them, and a changed one is found."""

import random
import re

import pytest

from headway.ext.protect import count_different_numbers, spell_numbers
from support.bounds import grows_less
from support.cases import each_case


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("at 3:20 PM", "um 15:20 Uhr"),
        ("at 3:20 a.m.", "um 03:20 Uhr"),
        ("at 12:05 AM", "um 00:05 Uhr"),
        ("Thu 5:00 PM", "Do., 17 Uhr"),
        ("at 9pm", "um 21:00 Uhr"),
        ("at 7:30 p.m.", "um 19.30 Uhr"),
        ("11:00 AM – 8:49 PM", "11:00–20:49 Uhr"),
        ("at 11.00 a.m., 1:00 p.m. and 3:00 p.m.", "um 11, 13 und 15 Uhr"),
        ("at 3:20 PM", "à 15h20"),
        ("at 5:20 PM", "午後5時20分"),
        ("Feb 4, 1808", "04.02.1808"),
        ("Jul 26, 1991, 7:00:21 PM", "26.07.1991, 19:00:21"),
        ("31/10/2013", "31.10.2013"),
        ("the 1,265.1 miles", "die 1.265,1 Meilen"),
        ("14 thousand", "14.000"),
        ("118,800 tourists", "118,8 Tausend Touristen"),
        ("2.5 million", "2 500 000"),
        ("1.25 million people", "1.250.000 Menschen"),
        ("0.05 million", "50.000"),
        ("1,500.5 km", "1500,5 km"),
        ("version 1.2.10", "Version 1.2.10"),
        ("at 3.20", "um 3:20"),
        ("John 3:16 and Gen 12:15", "Joh 3,16 und Gen 12,15"),
        ("at 12:30 B left", "um 12.30 Uhr ging B"),
        ("the 3rd of 12", "der dritte von zwölf"),
        ("٤٢", "42"),
        ("0:00, 1:0 pm, 99:99 and 24.60.1 AM", "0:00, 1:0 pm, 99:99 and 24.60.1 AM"),
        ("7" * 5000, "7" * 5000),
    ],
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


@pytest.mark.slow
def test_marks_in_any_order_are_read():
    chooser = random.Random(1)
    letters = "0123456789:., apmAPM٣²½KUhr千\u202f-"
    for _ in range(200):
        text, other = ("".join(chooser.choices(letters, k=23)) for _ in range(2))
        assert count_different_numbers(text, text) == 0
        assert count_different_numbers(text, other) == count_different_numbers(other, text)
        assert all(spell_numbers(text))


@pytest.mark.slow
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


@pytest.mark.slow
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
