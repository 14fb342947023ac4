"""Texts split into passages, and the links of words through several languages."""

import re

import pytest

from headway.config import TextConfig
from headway.ext.documents.html.page import HtmlPage
from headway.ext.documents.texts import SplitText, finish_sentence, is_readable, join_sentences
from headway.text.learning import learn_model
from headway.text.tokenizer import Tokenizer
from headway.text.word_links import WordLinks
from headway.text.words import find_words
from headway.translation.translation import Translation
from support.cases import each_case, own_rows
from support.extended_pieces import split_text
from support.text_promises import slow_shapes

TEXTS = [
    "One. Two! Three?  Four", "a\r\n\r\n b \n\nc.", "  ", "", "🎉 hello 🎉\n— \n", "Dr. Smith came. He left.",
    "日本語。もう一つ。", "<ul><li>a</li><li>b. C</li></ul>", "a <br/>\n<BR class='x'> b", "a.b.c. d",
    "\u2028x\u2029y\x0bz", "...\nA", "e.g. this", "1. a\n2. b", r"\nOne.\r\n two\t\n",
]  # fmt: skip


@pytest.mark.parametrize("split", [True, False])
def test_a_passage_is_its_text(split):
    for text in TEXTS:
        passage = SplitText.divide(text, "en", split)
        assert len(passage.gaps) == len(passage.sentences) + 1
        assert passage.join(passage.sentences, ("ja", "ja")) == (text, passage.starts())
        assert all(core == core.strip() and core for core in passage.sentences)
        for core, start in zip(passage.sentences, passage.starts(), strict=True):
            assert text[start : start + len(core)] == core
        joined, starts = passage.join(
            [f"<{sentence}>" for sentence in passage.sentences], ("ja", "ja")
        )
        assert re.sub("<(?=.*>)|>", "", joined) == re.sub("<(?=.*>)|>", "", text)
        for core, start in zip(passage.sentences, starts, strict=True):
            assert joined[start:].startswith(f"<{core}>")


def test_sentences_have_a_space_between_them_where_the_language_writes_one():
    for source, text in (("ja", "一つ。二つ。\n三つ。"), ("en", "Is one. Are two.\nAre three.")):
        passage = SplitText.divide(text, source)
        assert len(passage.sentences) == 3
        for target in ("en", "de-AT", "th", "ko", "ar"):
            joined, _ = passage.join(["Ein.", "Zwei.", "Drei."], (source, target))
            assert joined == "Ein. Zwei.\nDrei."
        for target in ("zh", "zh-CN", "zh_Hant", "zho", "ja", "jpn", "yue"):
            joined, _ = passage.join(["一。", "二。", "三。"], (source, target))
            assert joined == "一。二。\n三。"


@pytest.mark.parametrize("split", [True, False])
def test_a_sentence_ends_at_tags_of_breaks_and_blocks(split):
    for text, sentences in own_rows():
        passage = SplitText.divide(text, "en", split)
        assert passage.sentences == sentences
        both = zip(passage.gaps, [*passage.sentences, ""], strict=True)
        assert "".join(gap + sentence for gap, sentence in both) == text


def test_a_sentence_ends_behind_an_ellipsis_an_address_and_a_unit():
    for text, count in (
        ("A man runs… A dog runs.", 2), ("A man runs… and a dog runs.", 1), ("“A man runs…” A dog runs at 5 km/h. A cat sleeps.", 3),
        ("He runs 5 m/s. a day", 1), ("See https://a.b/c. A dog runs (www.a.b). A cat sleeps.", 3), ("See https://a.b/c. or else", 1),
    ):  # fmt: skip
        assert len(SplitText.divide(text, "en").sentences) == count, text


@pytest.mark.parametrize(
    "kept",
    ["{name}", "{{x}}", "[[x]]", "“{name}”", "%(who)s", "https://example.org/a?b=c", "a.txt"],
)
def test_what_is_kept_begins_and_ends_a_sentence_as_a_name_does(kept):
    for mark in ".!?":
        sentences = [f"Laura was late{mark}", f"{kept} asks Martha about {kept}{mark}", "He goes."]
        assert SplitText.divide(" ".join(sentences), "en").sentences == sentences


def test_an_escape_divides_a_text_as_a_line_break_does():
    for escape in (r"\n", r"\t", r"\r", r"\r\n", r"\n\n", r" \n "):
        passage = SplitText.divide(f"{escape}At 8 AM{escape}{{name}}: go.{escape}", "en")
        assert passage.sentences == ["At 8 AM", "{name}: go."]
        assert passage.gaps == [escape] * 3
        assert SplitText.divide(f"One.{escape}two", "en").sentences == ["One.", "two"]
    # One behind an address or a path is no part of it.
    text = r"See https://a.b/c\nSee www.a.b\nSee C:\new.\nStop"
    expected = ["See https://a.b/c", "See www.a.b", r"See C:\new.", "Stop"]
    assert SplitText.divide(text, "en").sentences == expected
    # None is in a path, and none stands for itself.
    for text in (
        r"Open C:\new\Table", r"Open C:\New\t1", r"Open docs\new", r"Open a.b\table", r"Open \\server\new",
        "Write `a\\n` here", r'Write "\r\n" here', r"The ends (\r\n) of lines", r"The pattern [^\r\n]+",
        r"Twice a backslash: \\n", r"Open %HOME%\new",
    ):  # fmt: skip
        assert SplitText.divide(text, "en").sentences == [text]


def test_no_word_goes_on_across_an_escape(translator):
    split = split_text(translator, r"a cat.\nThe dog")
    found = [
        [Translation(text, 0.0, 0.0, alignment=[(0, 1), (1, 0)])]
        for text in ("chat un.", "Chien le")
    ]
    links = join_sentences(split, found, ("en", "fr"), align=True).links
    assert links is not None
    words = [
        (
            split.text[slice(*links.source[source])],
            r"chat un.\nChien le"[slice(*links.target[target])],
        )
        for source, target in links.pairs
    ]
    assert words == [("a", "un."), ("cat.", "chat"), ("The", "le"), ("dog", "Chien")]


def test_a_text_of_a_document_without_a_letter_of_the_vocabulary_stays(translator):
    for text, is_read in own_rows():
        assert is_readable(text, translator.tokenizer) == is_read
        split = split_text(translator, text, is_document=True)
        is_symbol = text == "— 42"
        assert bool(split.lines) == (is_read and not is_symbol)
        assert is_symbol or split_text(translator, text).lines


def test_bytes_and_the_symbols_of_languages_have_no_letters():
    model = learn_model(["кот видит дом"] * 9, TextConfig(vocab_size=280), ["de"])
    tokenizer = Tokenizer(model)
    assert tokenizer.source_letters == set("котвидитдом")
    assert is_readable("дом", tokenizer)
    assert not is_readable("Haus", tokenizer)


def linked(source, target, pairs):
    return WordLinks(find_words(source), find_words(target), list(pairs))


def test_links_go_through_a_third_language():
    first = linked("a b", "x y z", [(0, 0), (1, 1), (1, 2)])
    second = linked("x y z", "p q", [(0, 1), (2, 0), (1, 0)])
    assert first.then(second).pairs == [(0, 1), (1, 0)]
    # A dash is not a word to translate: it is a target word of the first text only.
    first = linked("a b", "x — z", [(0, 0), (1, 2)])
    second = WordLinks([(0, 1), (4, 5)], find_words("p q"), [(0, 1), (1, 0)])
    assert first.then(second).pairs == [(0, 1), (1, 0)]


@each_case
def test_a_text_without_a_full_stop_gets_none(language, source, translation, expected):
    assert finish_sentence(source, translation, language) == expected


def test_the_words_of_a_text_that_lost_its_full_stop_stay_linked(translator):
    split = split_text(translator, "Two dogs\nA cat.")
    found = [
        [Translation("Zwei Hunde .", 0.0, 0.0, alignment=[(0, 0), (1, 1), (1, 2)])],
        [Translation("Eine Katze.", 0.0, 0.0, alignment=[(0, 0), (1, 1)])],
    ]
    joined = join_sentences(split, found, ("en", "de"), align=True, is_document=True)
    assert joined.text == "Zwei Hunde\nEine Katze."
    assert joined.links is not None
    assert joined.links.pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert [each.translation.text for each in joined.sentences] == ["Zwei Hunde", "Eine Katze."]


@pytest.mark.parametrize("what", ["passage", "html"])
def test_time_grows_linearly_with_passages_and_pages(what):
    work = {
        "passage": lambda text: SplitText.divide(text, "en"),
        "html": lambda text: HtmlPage(text).paragraphs,
    }[what]
    assert slow_shapes(work, 3_000) == []
