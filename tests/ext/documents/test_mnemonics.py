"""Messages of programs are translated without the marks of their mnemonics, which come back."""

import html

import pytest

from headway.ext.documents.mnemonics import read_mnemonic
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from support.cases import each_case


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("&Open file", "Open file"),
        ("_Open a book", "Open a book"),
        ("A man &is running.", "A man is running."),
        ("Search && &replace...", "Search && replace..."),
        ("R&D &Élan", "R&D Élan"),
        ("E&xit", "Exit"),
        ("Save a&s...", "Save as..."),
        ("R&D Cu_t", "R&D Cut"),
        ("Select A_ll", "Select All"),
        ("For&mat", "Format"),
        ("Document&s", "Documents"),
        ("E&xit: https://a.example/?q=foo&bar", "Exit: https://a.example/?q=foo&bar"),
        *(
            (each, None)
            for each in (
                "a && b", "&&a", "&amp; b", "a &eacute; b", "R&D", "a & b", "&1", "&a &b", "snake_case", "__X__", "_a_", "_a b_c",
                "a _1", "_a &b", "?a=1&b=2", "%(_a)s",
                "{Item_count} items", "%(User_name)s logged in", "See https://a.example/?q=foo&bar", '<a href="?p=a&q">Help</a>',
                "$User_name", "Some_one@example.com", "My_file.txt", "`Some_code`", "Rock&roll music", "Drag&drop", "Copy&paste",
                "A long text of a program that has a mark in a w&ord", "AT&T", "a b&eacute;", "x?a&b=1", "file_name", "see file_Name", "Cu_t_x", "Cut_2", "E&xit &b",
            )
        ),
    ],
)  # fmt: skip
def test_a_message_has_one_mnemonic_or_none(source, text):
    found = read_mnemonic(Paragraph(source))
    assert (found.paragraphs[0].text if found else None) == text


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
