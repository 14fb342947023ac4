"""Texts with tags of XML: every tag comes back once, and what is ignored is not translated."""

import pytest

from headway.errors import HeadwayError
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_source import XmlTags, XmlText
from support.cases import each_case
from support.documents import translate

OUTLINED = "<doc>\n <t>One <b>two</b>.</t><k>keep</k>\n <t>Three</t>\n</doc>"


def upper(source, tags):
    text = XmlText(source, tags)
    return text.write([translate(paragraph, str.upper) for paragraph in text.paragraphs])


@each_case
def test_texts_between_tags(source, tags, expected):
    given = {k: frozenset(v) if isinstance(v, list) else v for k, v in tags.items()}
    text = XmlText(source, XmlTags(**given))
    assert [paragraph.text for paragraph in text.paragraphs] == expected
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
