"""Elements of a paragraph in its translation, and sentences divided among subtitles."""

import random
import re

import pytest

from headway.ext.documents import HtmlPage, Translated, open_document
from headway.ext.documents.cue_text import divide
from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.placing import place
from headway.text import WordLinks, find_words
from support.bounds import grows_less
from support.cases import each_case
from support.documents import expand, make_file

STRAIGHT = [(0, 0), (1, 1), (2, 2), (3, 4), (4, 3), (5, 5), (6, 6), (7, 7)]
CAT = [(0, 2), (1, 1), (2, 3), (3, 4), (4, 0)]


def linked(text, target, *pairs):
    return Translated(target, WordLinks(find_words(text), find_words(target), [*map(tuple, pairs)]))


def translated(source, target, pairs):
    """Return a page in a translation; `{0}`, `{1}` ... stand for the texts that stay, if it says where they are."""
    page = HtmlPage(source)
    [block] = page.paragraphs
    marks = KeptMarks(block, is_used="{" in target or not target)
    target = target.format(*re.findall("[\ue000-\uf8ff]", marks.text))
    return page.write([expand(marks, linked(marks.text, target, *pairs))])


@each_case
def test_elements_stand_around_the_words_that_are_linked_to_theirs(source, target, pairs, expected):
    assert translated(source, target, pairs) == expected


@each_case
def test_a_note_behind_the_mark_of_a_sentence_stays_behind_the_sentence(source, expected):
    pairs = [(0, 0), (1, 3), (2, 1), (3, 2), (4, 5), (5, 6)]
    assert translated(source, expected.replace("<img>", ""), pairs) == expected


@pytest.mark.parametrize("source", ["x {0}", "{1}", "<span class=a>{2}</span>{1}"])
def test_many_elements_take_linear_time(source):
    def write(count):
        page = HtmlPage(source.format("<code>a</code> " * count, "<b>b</b> " * count, "a " * count))
        [block] = page.paragraphs
        words = find_words(block.text)
        order = [*range(len(words))]
        if "span" in source:  # words of one kind move between those of the other
            order = [*order[::2], *order[1::2]]
        links = WordLinks(words, words, [*enumerate(order)])
        page.write([Translated(block.text.upper(), links)])

    assert grows_less(write, 400, 10)


@pytest.mark.parametrize("seed", range(3))
def test_elements_in_elements_take_linear_time(seed):
    chooser = random.Random(seed)
    outer, inner = chooser.choices(["b", "i", "a href=x", "span class=a"], k=2)
    words = [chooser.choice(["a ", "a", ""]) for _ in range(2)]
    unit = f"<{outer}>{words[0]}<{inner}>b</{inner.split()[0]}>{words[1]}</{outer.split()[0]}> "

    def write(count):
        page = HtmlPage("a " + unit * count)
        [block] = page.paragraphs
        page.write([Translated(block.text.upper(), WordLinks.identity(block.text))])

    assert grows_less(write, 1000, 7), unit


def test_a_sentence_without_spaces_is_divided():
    texts = ["the dog", "sees a cat"]
    found = linked(" ".join(texts), "犬は、猫を見る。", (0, 0), (1, 0), (4, 2), (2, 4), (2, 5))
    assert [part.text for part in divide(texts, found)] == ["犬は、", "猫を見る。"]


def test_a_sentence_is_divided_where_its_links_say():
    texts = ["A man in a shirt stands", "on a ladder."]
    target = "Auf einer Leiter steht er, ein Mann im Hemd."
    source = " ".join(texts)
    straight = linked(source, target, *((n, n) for n in range(8)))
    assert [part.text for part in divide(texts, straight)] == [
        "Auf einer Leiter steht er,", "ein Mann im Hemd.",
    ]  # fmt: skip
    for part, text in zip(divide(texts, straight), texts, strict=True):
        assert part.links is not None
        assert all(text[a:b].strip() for a, b in part.links.source)
        assert all(part.text[a:b].strip() for a, b in part.links.target)


def test_divided_words_come_back_in_their_order_however_few_they_are():
    for words in range(7):
        target = " ".join("abcdefg"[:words])
        for texts in (["x y", "z"], ["x", "y z", "u v w"], ["a b c d e f", "g"]):
            parts = divide(texts, Translated(target))
            assert len(parts) == len(texts)
            assert " ".join(part.text for part in parts).split() == target.split()
            assert words < len(texts) or all(part.text for part in parts)


def test_without_links_the_parts_have_the_proportions_of_their_texts():
    parts = divide(["one two three four", "five"], Translated("AAA BBB CCCCC DDDD EEEE"))
    assert [part.text for part in parts] == ["AAA BBB CCCCC DDDD", "EEEE"]
    parts = divide(["one", "two three four five"], Translated("AAA BBB CCCCC DDDD EEEE"))
    assert [part.text for part in parts] == ["AAA", "BBB CCCCC DDDD EEEE"]


@each_case
def test_the_mark_of_a_note_is_no_part_of_the_word_before_it(name, source, text, expected):
    document = open_document(source.encode(), name)
    [paragraph] = document.paragraphs
    assert paragraph.text == text
    links = WordLinks.identity(text)
    assert document.write([Translated(text.upper(), links)]).decode() == expected


@pytest.mark.parametrize("suffix", [".html", ".md", ".xlf", ".docx", ".odt", ".pptx"])
def test_every_text_is_written_once_however_the_words_are_linked(suffix):
    chooser, kept_count = random.Random(suffix), 0
    for seed in range(4):
        document = open_document(make_file(suffix, 500 + seed), f"x{suffix}")
        for paragraph in document.paragraphs:
            marks = KeptMarks(paragraph)
            words = re.findall("[\ue000-\uf8ff]|[^\ue000-\uf8ff\\s]+", marks.text)
            chooser.shuffle(words)
            target = "".join(word + chooser.choice(["", " "]) for word in words)
            counts = len(find_words(marks.text)), len(find_words(target))
            pairs = [
                (s, t) for s in range(counts[0]) for t in range(counts[1]) if chooser.random() < 0.2
            ]
            translated = expand(marks, linked(marks.text, target, *pairs))
            texts, kept = gather(place(paragraph, translated))
            assert sorted(kept) == sorted(gather(place(paragraph, Translated(paragraph.text)))[1])
            rest = re.sub("[\ue000-\uf8ff]", "", target)
            assert "".join(texts).replace(" ", "") == rest.replace(" ", ""), (
                paragraph,
                target,
                pairs,
            )
            kept_count += len(kept)
    assert kept_count > 0


def gather(parts):
    """Return the texts of a translation, and the texts of its kept elements."""
    texts = []
    kept = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif part.element.is_kept:
            kept.append(f"{part.element.start} {part.inner}")
        else:
            inner = gather(part.inner)
            texts, kept = texts + inner[0], kept + inner[1]
    return texts, kept
