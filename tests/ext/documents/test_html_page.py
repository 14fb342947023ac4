"""HTML as text: every tag comes back once, around the translations of its words."""

import html
import random
import re

from headway.ext.documents import HtmlPage, Translated
from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.html.page import read_parts
from headway.text import WordLinks, find_words
from support.bounds import grows_less
from support.cases import each_case
from support.documents import expand, same, translate


def linked(source, target, pairs):
    return WordLinks(find_words(source), find_words(target), list(pairs))


def one_block(source, target, pairs):
    page = HtmlPage(source)
    [block] = page.paragraphs
    return page.write([Translated(target, linked(block.text, target, pairs))])


@each_case
def test_tags_follow_their_words(source, target, pairs, expected):
    assert one_block(source, target, [*map(tuple, pairs)]) == expected


def upper(text):
    return Translated(text.upper(), WordLinks.identity(text))


def translated(source):
    """Return what is translated; `_` stands for an element that stays."""
    marked = map(KeptMarks, HtmlPage(source).paragraphs)
    return [re.sub("[\ue000-\uf8ff]", "_", marks.text) for marks in marked]


@each_case
def test_attributes_say_what_is_left_alone(source, texts):
    assert translated(source) == texts


@each_case
def test_texts_that_are_seen_apart_are_translated_one_by_one(source, texts):
    assert translated(source) == texts
    page = HtmlPage(source)
    written = page.write([translate(block, str.upper) for block in page.paragraphs])
    assert re.findall("<.*?>", written) == re.findall("<.*?>", source)


def test_no_character_is_lost_in_random_markup():
    chooser = random.Random(3)
    bits = [*["{{", "}}", "{%", "%}", "<%", "%>", "?>", "<", ">", "/", "!", "--", "-", "=", "'", '"', "a", "b", "script", "title", "?"], "<?php ", " ", "\n"]  # fmt: skip
    for _ in range(1_000):
        source = "".join(chooser.choices(bits, k=chooser.randrange(1, 30)))
        page = HtmlPage(source)
        assert page.write([same(block) for block in page.paragraphs]) == source


@each_case
def test_tags_of_template_engines_stay(source, expected):
    page = HtmlPage(source)
    marked = [KeptMarks(block) for block in page.paragraphs]
    assert page.write([expand(each, reverse(each.text)) for each in marked]) == expected


@each_case
def test_a_reading_belongs_to_the_old_word(source, text, expected):
    page = HtmlPage(source)
    assert [block.text for block in page.paragraphs] == [text]
    assert page.write([Translated(text, WordLinks.identity(text))]) == source
    assert page.write([upper(text)]) == expected


def test_numbers_of_characters_mean_what_they_do_in_html():
    for number in ("65", "0065", "0", "128512", "1114111", "1114112", "99999999999"):
        for text in (f"a&#{number};b", f"a&#{number} b", f"a&#x{number};b"):
            assert translated(text) == [html.unescape(text)]
    assert translated(f"a&#{'1' * 5000};b&#{'0' * 5000}65;") == ["a\ufffdbA"]


def reverse(text):
    """Return a translation that turns the words round: links are known."""
    target = " ".join(reversed(text.split()))
    words, count = find_words(text), len(find_words(target))
    pairs = [(i, count - 1 - i) for i in range(min(len(words), count))]
    return Translated(target, linked(text, target, pairs))


def reverse_page(source):
    page = HtmlPage(source)
    return page.write([reverse(block.text) for block in page.paragraphs])


@each_case
def test_an_element_around_several_texts_stays_around_them(source, expected):
    assert reverse_page(source) == expected


def random_html(chooser):
    nodes = [
        "<b>", "</b>", "<i>", "</i>", "<a href=\"?a=1&b=2\">", "</a>", "<br>", "<p>", "</p>", "<img>",
        "<", ">", "&amp;", "&lt;", "&", "word", "two words", " ", "\n", ".", "<code>", "</code>",
        "<!--", "-->", "<span class='x>y'>", "</span>", "\"", "'", "<b", "é", "\u202e", "🎉",
    ]  # fmt: skip
    return "".join(chooser.choices(nodes, k=chooser.randrange(40)))


def test_every_tag_comes_back_once_and_no_word_is_lost():
    chooser = random.Random(4)
    for _ in range(300):
        source = random_html(chooser)
        found = reverse_page(source)
        parts = [(part.kind, part.source) for part in read_parts(source)]
        tags = [text for kind, text in parts if kind != "text"]
        remaining = found
        for tag in sorted(tags, key=len, reverse=True):
            assert tag in remaining, source
            remaining = remaining.replace(tag, " ", 1)
        plain = [text for kind, text in parts if kind == "text"]
        letters = sorted(re.sub(r"\s", "", html.unescape("".join(plain))))
        if "code" not in source:
            assert sorted(re.sub(r"\s", "", html.unescape(remaining))) == letters, source


@each_case
def test_the_time_for_words_with_few_links_or_all_is_linear(source, link):
    """Tags between words of which none, or one, became all that there is."""

    def write(count):
        page = HtmlPage(source.format("<wbr>" * count, "<b>x</b> " * count, " ." * 2 * count))
        target = "A " * 2 * count
        links = linked(page.paragraphs[0].text, target, [])
        own = range(len(links.source))
        links.pairs = [(own[at], word) for at in link for word in range(2 * count)]
        page.write([Translated(target, links)])

    assert grows_less(write, 300, 10)
