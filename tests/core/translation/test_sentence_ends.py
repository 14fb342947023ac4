"""Where sentences end: abbreviations, initials, numbers and quotations of 24 languages."""

from pathlib import Path

import pytest

from headway.translation import split_sentences

# Rows: a language, and one sentence with a full stop or another mark in it, or two sentences.
ROWS = [
    row.split("\t")
    for row in Path(__file__).with_name("sentence_ends.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("count", [1, 2])
def test_sentences_end_where_readers_say(count):
    right: dict[str, list[bool]] = {}
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
        ("xx", "One is here. Two are there.", 2),
    ],
)
def test_sentences_are_counted(language, text, count):
    assert len(split_sentences(text, language)) == count
