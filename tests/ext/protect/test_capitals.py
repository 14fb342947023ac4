"""Texts in capitals."""

import time
from unicodedata import normalize

import pytest

from headway.ext.protect.capitals import (
    find_initials,
    is_in_capitals,
    to_capitals,
    to_small_letters,
)
from support.cases import each_case


@each_case
def test_capitals_are_found(text, expected):
    assert is_in_capitals(text) == is_in_capitals(normalize("NFD", text)) == expected


def test_small_letters_begin_with_a_capital():
    assert to_small_letters("“TABLE OF CONTENTS”", "en") == "“Table of contents”"
    assert to_small_letters("A. B!  “C” (3 D)? E.G. F, G", "en") == "A. B!  “C” (3 d)? E.g. F, g"
    assert to_small_letters("", "en") == ""


def test_a_character_that_stands_for_a_word_begins_a_sentence():
    text = "* HAS A DOG. “+ HAS! ♪ A - CAT. *. ITS NAME"
    small = "* has a dog. “+ has! ♪ A - cat. *. Its name"
    assert to_small_letters(text, "en", "*+") == small
    assert find_initials(text, "*+") == {"*", "+", "A", "I"}


def test_capitals_leave_what_is_kept():
    assert to_capitals("Straße mit {name} und %d", "de") == "STRASSE MIT {name} UND %d"


@pytest.mark.parametrize("language", ["az", "tr-TR"])
def test_an_i_keeps_its_dot(language):
    assert to_capitals("ışık ve iki {id}", language) == "IŞIK VE İKİ {id}"
    assert to_small_letters("IŞIK İYİ. İKİ KIZ", language) == "Işık iyi. İki kız"
    assert to_small_letters("ILL IN IT", "de") == "Ill in it"


@pytest.mark.slow
def test_the_time_grows_with_the_length():
    started = time.process_time()
    to_small_letters(". " * 500_000, "en")
    assert time.process_time() - started < 5  # a square would be hours
