"""Messages of programs are translated without the marks of their mnemonics, which come back."""

import html

import pytest

from headway.ext.documents.mnemonics import read_mnemonic
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from support.cases import each_case


@each_case
def test_a_message_has_one_mnemonic_or_none(source, text):
    found = read_mnemonic(Paragraph(source))
    assert (found.paragraphs[0].text if found else "") == text


@each_case
def test_a_mnemonic_is_the_same_letter_if_the_translation_has_it(source, target, expected):
    found = read_mnemonic(Paragraph(source))
    assert found
    assert found.write([Translated(target)]).text == expected


@pytest.mark.parametrize("suffix", [".po", ".xlf"])
def test_files_of_messages_are_translated_without_marks(suffix):
    sources = ["&Add all", "Red {n,plural,one{dog}other{dogs}}", "a && b"]
    content = {
        ".po": "".join(f'msgid "{each}"\nmsgstr ""\n\n' for each in sources),
        ".xlf": '<xliff version="1.2"><file><body>'
        + "".join(f'<trans-unit id="{n}"><source>{html.escape(each)}</source></trans-unit>' for n, each in enumerate(sources))
        + "</body></file></xliff>",
    }  # fmt: skip
    document = open_document(content[suffix].encode(), f"x{suffix}", DocumentOptions("en", "de"))
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts == ["Add all", "Red dog", "Red dogs", "a && b"]
    same = html.unescape(document.write([*map(Translated, texts)]).decode())
    assert same.count("&Add all") == 2
    targets = ["Alles dazu", "Rot Hund", "Rot Hunde", "A && B"]
    written = html.unescape(document.write([*map(Translated, targets)]).decode())
    assert "&Alles dazu" in written
    assert "{n, plural, one {Rot Hund} other {Rot Hunde}}" in written
    assert "A && B" in written
