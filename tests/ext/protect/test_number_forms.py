"""Numbers with units are written as the target language writes them, and mean the same."""

from random import Random

import pytest

from headway.ext.protect.number_forms import MARKS, write_number
from headway.ext.protect.protected_text import find_measures
from support.cases import each_case
from support.masked_texts import mask, word

LANGUAGES = " ".join(MARKS.values()).split()


def make_numbers(count):
    chooser = Random(1)
    for _ in range(count):
        whole = chooser.randrange(10 ** chooser.randrange(1, 10))
        fraction = chooser.choice(
            ["", f"{chooser.randrange(1000):03}", str(chooser.randrange(100))]
        )
        yield whole, fraction


def test_each_language_writes_numbers_as_babel_does():
    numbers = pytest.importorskip("babel.numbers")
    for language in LANGUAGES:
        assert write_number("1,500.5 kg", ("en", language)) == (
            f"1{numbers.get_group_symbol(language)}500{numbers.get_decimal_symbol(language)}5 kg"
        ), language
        percent = numbers.format_percent(0.5, locale=language, numbering_system="latn")
        assert write_number("50%", ("en", language)) == percent.replace("\u00a0", " "), language


def test_a_number_means_the_same_in_each_language_and_comes_back():
    chooser, units = Random(2), ("kg", " km/h", "%", " EUR")
    for whole, fraction in make_numbers(2_000):
        first, second = chooser.choices(LANGUAGES, k=2)
        english = f"{whole:,}{fraction and '.'}{fraction}{chooser.choice(units)}"
        own, wanted = (write_number(english, ("en", each)) for each in (first, second))
        if "%" not in own[:2]:  # such a number is not found
            assert write_number(own, (first, second)) == wanted, (english, first, second)
            assert write_number(own, (first, "en")).strip("% ") == english.strip("% ")


@each_case
def test_a_number_is_written_by_the_rules_of_its_language(text, languages, expected):
    assert write_number(text, tuple(languages)) == expected


def test_a_translation_has_the_number_in_the_form_of_its_language(tokenizer):
    read = word(tokenizer, "65 weeks", "65 weeks")
    for number, written in (("1,500.5 kg", "1.500,5 kg"), ("20 EUR", "20 EUR"), ("5%", "5 %")):
        masked = mask(tokenizer, f"the cat sees {number} here", read)
        [tokens] = tokenizer.encode_target([masked.text])
        assert masked.write(tokenizer, tokens, []) == f"the cat sees {written} here"
        unread = mask(tokenizer, f"the cat sees {number} here")  # no placeholder word is known
        [tokens] = tokenizer.encode_target([f"the cat sees {written} here"])
        assert unread.write(tokenizer, tokens, []) == f"the cat sees {written} here"


def test_a_line_without_words_needs_no_model_and_has_its_numbers_in_the_form_of_its_language(
    translator,
):
    chooser = Random(3)
    marks = (" – ", ", ", " / ", " ", ". ", " (", ") ", "; ", " <b>", "</b> ", " {n} ")
    lines = [("(2.5 kg)", "(2,5 kg)"), ("– 1,500 km", "– 1.500 km")]
    for _ in range(200):
        numbers = [f"{chooser.randrange(10_000) / 4:,} kg" for _ in range(chooser.randrange(1, 5))]
        line = "".join(number + chooser.choice(marks) for number in numbers).strip()
        expected = line
        for number in sorted(numbers, key=len, reverse=True):
            expected = expected.replace(number, write_number(number, translator.languages))
        lines.append((line, expected))
    found = translator.translate([line for line, _ in lines])
    assert found == [expected for _, expected in lines]


def test_any_blank_may_stand_before_a_unit_and_between_thousands():
    for blank in " \u00a0\u2000\u2003\u2006\u2009\u200a\u202f\u205f\u3000":
        for text in (f"5{blank}kg", f"1{blank}500{blank}kg", f"EUR{blank}20"):
            assert find_measures(f"It weighs {text}.") == [(10, 10 + len(text))], ascii(text)
        assert write_number(f"1{blank}500.5 kg", ("en", "de")) == "1.500,5 kg"
