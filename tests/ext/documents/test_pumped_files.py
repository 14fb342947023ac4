"""Files that repeat one thing many times: the time is linear in the length, and what is too much is refused."""

import json
import random

import pytest

from headway.errors import HeadwayError
from headway.ext.documents.document_translation import KeptMarks, translate_paragraph
from headway.ext.documents.office.ooxml import _SIGNS_OF_TEXT
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import LONGEST_PARAGRAPH
from headway.ext.documents.texts import TextPipeline
from headway.ext.documents.xml_source import remove_attribute, set_attribute
from headway.ext.protect.protected_text import find_protected_text
from headway.text.word_links import WordLinks
from headway.translation.requests import run
from support.bounds import bounded, grows_less
from support.documents import expand
from support.office_files import make_xlsx
from support.office_packages import change_member, make_text, make_word

OPTIONS = DocumentOptions("en", "de")
TEXT = '<x xmlns:t="t"><t:p>{}</t:p></x>'
SHEET = make_xlsx(random.Random(1))


def rewrite(data, name):
    """Read a file, and write it with other texts."""
    document = open_document(data, name, OPTIONS)
    document.write([Translated(f"{each.text} X") for each in document.paragraphs])


def write_units(content):
    return (
        '<xliff version="1.2"><file original="a" datatype="x" source-language="en"><body><trans-unit id="1">'
        f"<source>A dog {content}</source><target{content and ' ' * len(content)}/></trans-unit></body></file></xliff>"
    ).encode()


def with_comments(part, form, count):
    """Return a workbook with elements without an end, each with a prefix of its own, in a comment of a part."""
    comment = "".join(form.format(number) for number in range(count))
    return change_member(SHEET, part, lambda source: f"{source}<!--{comment}-->")


PUMPED = {
    "long name of a tag": (lambda n: set_attribute(f"<{'a' * n}>", "b", "c"), 1_200),
    "spaces in a tag": (lambda n: set_attribute(f"<{'a' * n}{' ' * n}>", "b", "c"), 500),
    "removed attribute": (lambda n: remove_attribute(f"<a{' ' * n}{'a' * n}>", "b"), 1_200),
    "unit": (lambda n: rewrite(write_units(f"<{'a' * n}/>"), "a.xlf"), 1_200),
    "cells": (lambda n: rewrite(with_comments("xl/worksheets/sheet1.xml", "<p{}:c a>", n), "a.xlsx"), 800),
    "spaces in cells": (lambda n: rewrite(with_comments("xl/worksheets/sheet1.xml", "<c a>" + " " * n, 1), "a.xlsx"), 1_200),
    "strings": (lambda n: rewrite(with_comments("xl/sharedStrings.xml", "<p{}:si>", n), "a.xlsx"), 800),
    "spaces in a citation": (lambda n: rewrite(f"a [@a{' ' * n}x] b\n".encode(), "a.md"), 2_000),
    "tag with a bracket in Markdown": (lambda n: rewrite(f'a <{"a" * n} b=">">c\n'.encode(), "a.md"), 1_200),
    "results of formulas": (lambda n: _SIGNS_OF_TEXT.search(b"<c " + b't="str"' * n), 500),
    "words of OpenDocument": (lambda n: rewrite(make_text(content=TEXT.format("a dog " * n)), "a.odt"), 2_000),
    "spans": (lambda n: rewrite(make_text(content=TEXT.format('<t:span t:a="b">a</t:span> dog ' * n)), "a.odt"), 300),
    "runs": (lambda n: rewrite(make_word("<w:p>" + '<w:r><w:t>dog</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>a </w:t></w:r>' * n + "</w:p>"), "a.docx"), 200),
    "runs that become one": (lambda n: rewrite(make_word("<w:p>" + "<w:r><w:t>some-text</w:t></w:r>" * n + "</w:p>"), "a.docx"), 1_200),
    "bold runs that become one": (lambda n: rewrite(make_word("<w:p>" + "<w:r><w:rPr><w:b/></w:rPr><w:t>some-text</w:t></w:r>" * n + "</w:p>"), "a.docx"), 600),
    "blocks that stay": (lambda n: rewrite(("<div translate=no>" + "<div>" * n + "</p>" * n + "<li translate=no>" * n).encode(), "a.html"), 300),
    "fields": (lambda n: rewrite(make_word("<w:p>" + '<w:r><w:fldChar w:fldCharType="begin"/><w:t>a dog</w:t></w:r>' * n + "</w:p>"), "a.docx"), 200),
    "formulas": (lambda n: rewrite(change_member(SHEET, "xl/worksheets/sheet1.xml", lambda s: s.replace("</sheetData>", "<row><c><f>IF(A1=&quot;a&quot;,1)</f></c></row>" * n + "</sheetData>")), "a.xlsx"), 300),
    "joined tags": (lambda n: find_protected_text(f"<{'a' * n}>{{b}} c"), 1_200),
    "spaces behind a formula": (lambda n: rewrite(f"$$\na\n$${' ' * n}a\n".encode(), "a.md"), 1_200),
    "spaces in JSON": (lambda n: rewrite(json.dumps({"a": "A" + " " * n + "dog"}).encode(), "a.json"), 4_000),
    "key of JSON": (lambda n: rewrite(json.dumps({"k" * 10 * n: ["en"] * n}).encode(), "a.json"), 500),
}  # fmt: skip


@pytest.mark.parametrize("name", PUMPED)
def test_the_time_is_linear(name):
    work, count = PUMPED[name]
    assert grows_less(work, count, times=9)  # 16 would be quadratic


def test_attributes_of_tags_are_found_and_changed():
    tag = """<a:b c="1"\n d = 'x y="z"'\te:f="2" g="<"/>"""
    assert remove_attribute(tag, "d") == """<a:b c="1"\te:f="2" g="<"/>"""
    assert remove_attribute(tag, "y") == tag
    assert set_attribute(tag, "e:f", "3") == tag.replace('"2"', '"3"')


@pytest.mark.parametrize(
    ("key", "is_text"),
    [("lang", False), ("site_locale", False), ("x" * 30 + "-lang-code", False), ("slang", True), ("lang\n", True), ("x" * 30 + "lang", True)],
)  # fmt: skip
def test_the_end_of_a_key_says_that_its_value_is_a_language(key, is_text):
    document = open_document(json.dumps({key: "en"}).encode(), "a.json", OPTIONS)
    assert [each.text for each in document.paragraphs] == ["en"] * is_text


def test_a_paragraph_and_a_text_have_bounds(monkeypatch):
    longest = ("a dog " * LONGEST_PARAGRAPH)[:LONGEST_PARAGRAPH]
    assert open_document(longest.encode(), "a.txt", OPTIONS).paragraphs[0].text == longest
    with pytest.raises(HeadwayError, match=r"^a\.txt: has a paragraph of 1,000,001 characters: "):
        open_document(f"{longest}a".encode(), "a.txt", OPTIONS)
    monkeypatch.setattr("headway.ext.documents.opening.LARGEST", 80)
    with pytest.raises(HeadwayError, match=r"^a\.txt: has 81 characters of text: split it"):
        open_document(b"a" * 81, "a.txt", OPTIONS)


def test_a_long_paragraph_that_stays_costs_no_object_for_each_word(translator):
    text = "\u0434 " * 400_000  # no letter of the model
    with bounded(seconds=20, megabytes=64):
        pipeline = TextPipeline([translator], align=True, is_document=True)
        whole = run(translate_paragraph(pipeline, Paragraph(text)))
    assert (whole.text, whole.links) == (text, None)
    links = WordLinks.identity("a b")
    assert expand(KeptMarks(Paragraph("a b")), Translated("a b", links)).links is links
