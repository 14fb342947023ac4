"""Words, with spaces between them and without."""

import random
import time

import pytest

from headway.text.words import find_words, simplify_breaks, word_at


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the cat, (sees)  3.5kg!", ["the", "cat,", "(sees)", "3.5kg!"]),
        ("한국어 문장입니다.", ["한국어", "문장입니다."]),
        ("犬は「猫」を見た。", ["犬", "は", "「猫」", "を", "見", "た。"]),
        ("コンピューターとGPT-4（新）", ["コンピューター", "と", "GPT-4", "（新）"]),
        ("สวัสดี โลก", ["ส", "วั", "ส", "ดี", "โ", "ล", "ก"]),
        ("か\u3099き - 木", ["か\u3099", "き", "-", "木"]),
        (" \u3000", []),
    ],
)
def test_words_of_scripts_with_and_without_spaces(text, words):
    spans = find_words(text)
    assert [text[start:end] for start, end in spans] == words
    assert find_words(text, 5) == [(start + 5, end + 5) for start, end in spans]
    for number, (start, end) in enumerate(spans):
        assert word_at(spans, start) == word_at(spans, end - 1) == number


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\u00a0man\u202f: 5\u2009km", "a man : 5 km"),
        ("mountain\u2011bike", "mountain-bike"),
        ("\u00adrid\u00ad\u00ading\u2060 \u00ad \ufeffa", "riding \u00ad a"),
        ("plain - text\u3000犬", "plain - text\u3000犬"),
        ("an  image \u00a0 was here", "an image was here"),
    ],
)
def test_characters_of_line_breaks_become_common_ones(text: str, plain: str) -> None:
    assert simplify_breaks(text) == plain
    assert len(find_words(text)) == len(find_words(plain))


def test_a_text_with_simple_breaks_has_as_many_words() -> None:
    chooser = random.Random(1)
    for _ in range(20_000):
        drawn = chooser.choices("ab 漢カ「-(.\u00ad\u2060\ufeff\u00a0\u2010\u2002\u0301ก", k=5)
        text = "".join(drawn).strip()
        assert len(find_words(simplify_breaks(text))) == len(find_words(text)), ascii(text)


@pytest.mark.parametrize("piece", ["\u00ad", "\u00a0", "\u00ad ", " ", "a  "])
def test_the_time_to_simplify_breaks_is_linear(piece: str) -> None:
    started = time.process_time()
    simplify_breaks(piece * 200_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("piece", ["(", "「", "犬", "ー", "\u2060", "\u2060ー", "a", "。"])
def test_the_time_grows_with_the_length(piece):
    started = time.process_time()
    find_words(piece * 1_000_000)
    assert time.process_time() - started < 5  # a square would be days
