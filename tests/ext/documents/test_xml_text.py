"""Texts with tags of XML: every tag comes back once, and what is ignored is not translated."""

import pytest

from headway.errors import HeadwayError
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_source import XmlTags, XmlText
from support.documents import translate

OUTLINED = "<doc>\n <t>One <b>two</b>.</t><k>keep</k>\n <t>Three</t>\n</doc>"


def texts(source, tags):
    return [paragraph.text for paragraph in XmlText(source, tags).paragraphs]


def upper(source, tags):
    text = XmlText(source, tags)
    return text.write([translate(paragraph, str.upper) for paragraph in text.paragraphs])


@pytest.mark.parametrize(
    ("source", "tags", "expected"),
    [
        ("A <b>red</b> ball", XmlTags(), ["A red ball"]),
        ("<t>One</t><t>Two</t>", XmlTags(), ["One", "Two"]),
        ("<t>One</t><t>Two</t>", XmlTags(inline=frozenset({"t"})), ["OneTwo"]),
        ("<t>One</t><t>Two</t>", XmlTags(is_outlined=False), ["OneTwo"]),
        ("One<br/>two", XmlTags(), ["Onetwo"]),
        ("One<br/>two", XmlTags(frozenset({"br"})), ["One", "two"]),
        ("One <i><b>two</b></i>", XmlTags(), ["One two"]),
        ("One <x>two</x> three", XmlTags(ignored=frozenset({"x"})), ["One two three"]),
        (OUTLINED, XmlTags(ignored=frozenset({"k"})), ["One two.", "Three"]),
        ("<?xml version='1.0'?><r>A &amp; B<!-- no --></r>", XmlTags(), ["A & B"]),
        ("A <![CDATA[<b>]]> C", XmlTags(), ["A <b> C"]),
    ],
)
def test_texts_between_tags(source, tags, expected):
    assert texts(source, tags) == expected
    text = XmlText(source, tags)
    assert text.write([Translated(each) for each in expected]) == source


def test_tags_come_back_and_text_is_escaped():
    ignored = XmlTags(ignored=frozenset({"x"}))
    found = upper('a &lt; <b class="q">b</b> <x id="1"></x> e <x>c &amp; d</x>', ignored)
    assert found == 'A &lt; <b class="q">B</b> <x id="1"></x> E <x>c &amp; d</x>'
    assert upper(OUTLINED, XmlTags()) == (
        "<doc>\n <t>ONE <b>TWO</b>.</t><k>KEEP</k>\n <t>THREE</t>\n</doc>"
    )


@pytest.mark.parametrize("source", ["a <b", "<a>", "a</text><text>b", "&nope;", "a & b", "<a></b>"])
def test_what_is_no_xml_is_refused(source):
    with pytest.raises(HeadwayError, match="no well-formed XML"):
        XmlText(source, XmlTags())
