"""Where sentences end: abbreviations, initials, numbers and quotations of 24 languages."""

import re
from pathlib import Path

import pytest

from headway.text.words import UNSEEN
from headway.translation import split_sentences

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


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("fr", "M. Dupont a vu la maison.", 1),
        ("fr-CA", "L'art. 5 du code. Mme Roy l'a lu.", 2),
        ("en", "Plan B. We go.", 2),
        ("en", "J. R. R. Smith left at 5 p.m. He was tired.", 2),
        ("de", "Am 5. Mai z. B. Karl IV. traf Dr. Weiß. Danach ging er.", 2),
        ("de", "das ist gut. sie kommt. wir gehen, z. b. heute.", 3),
        ("no", "Kl. 8 kommer hr. Berg. Vi venter.", 2),
        ("el", "Τι κάνεις; Είμαι καλά.", 2),
        ("ru", "Это и т. д. Мы ушли.", 2),
        ("zh", "你好。再见！", 2),
        ("en", "See 你好。 Then 再见！Next.", 3),
        ("en", "We are happy. \U0001f600", 1),
        ("en", "Yes! \U0001f600 He came. !", 2),
        ("en", "\ue000Dr.\ue001 Smith is here.\ue002 \ue003He sleeps.", 2),
        ("de", "Das Buch (Hrsg.) Berlin ist gut.", 1),
        ("en", "(He came at 5 p.m.) The dog is here.", 2),
        ("en", "We use Linux. macOS and iPhones are different.", 2),
        ("it", "Ieri E. O'Brien è venuto.", 1),
        ("cs", "Karel IV. Lucemburský žil v Praze.", 1),
        ("da", "Iflg. Novak er det godt.", 1),
        ("ja", "彼は「はい。」と言った。彼女は来た。", 2),
        ("xx", "One is here. Two are there.", 2),
    ],
)
def test_sentences_are_counted(language, text, count):
    assert len(split_sentences(text, language)) == count


def test_a_sentence_ends_also_where_nobody_sees_what_stands_behind_its_mark():
    every = [c for c in map(chr, range(0x110000)) if re.match(f"[{UNSEEN}\u200b]", c)]
    for unseen in every:
        for text in (f"He came.{unseen} The dog is here.", f"He came. {unseen}The dog is here."):
            assert len(split_sentences(text, "en")) == 2, ascii(text)
        assert len(split_sentences(f"He came.{unseen} ", "en")) == 1, ascii(unseen)
