"""Where sentences end: abbreviations, initials, numbers and quotations of 29 languages."""

import re
from pathlib import Path

import pytest

from headway.text.words import UNSEEN
from headway.translation import split_sentences
from support.cases import each_case

# Rows: a language, and one sentence with a full stop or another mark in it, or two sentences.
ROWS = [
    row.split("\t")
    for row in Path(__file__).with_name("sentence_ends.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("count", [1, 2])
def test_sentences_end_where_readers_say(count):
    right = {}
    for language, *sentences in ROWS:
        if len(sentences) == count:
            found = split_sentences(" ".join(sentences), language)
            assert "".join(found) == " ".join(sentences)
            is_right = [sentence.strip() for sentence in found] == sentences
            right.setdefault(language, []).append(is_right)
    shares = {language: sum(some) / len(some) for language, some in right.items()}
    assert sum(shares.values()) >= 0.97 * len(shares), shares
    assert min(shares.values()) >= 0.85, shares


@each_case
def test_sentences_are_counted(language, text, count):
    assert len(split_sentences(text, language)) == count


def test_a_sentence_ends_also_where_nobody_sees_what_stands_behind_its_mark():
    every = [c for c in map(chr, range(0x110000)) if re.match(f"[{UNSEEN}\u200b]", c)]
    for unseen in every:
        for text in (f"He came.{unseen} The dog is here.", f"He came. {unseen}The dog is here."):
            assert len(split_sentences(text, "en")) == 2, ascii(text)
        assert len(split_sentences(f"He came.{unseen} ", "en")) == 1, ascii(unseen)
