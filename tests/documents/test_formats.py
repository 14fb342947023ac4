"""Documents of text formats: through translators whose result is known, only the text changes."""

import re
from collections import Counter

import pytest

from headway.documents.opening import SUFFIXES, is_document, open_document
from headway.documents.paragraph import DocumentOptions
from headway.errors import HeadwayError
from support.documents import MAKERS, expected_text, make_file, marked, same

OPTIONS = DocumentOptions("en", "", ("title", "body"))
COMPLETE = DocumentOptions("en", "", ("title", "body"), is_complete=True)
MARKUP = {
    ".html": r"<[^<>]*>",
    ".md": r"<[^<>\n]*>|\*+|~~|\]\([^)]*\)|\]\[\w+\]|^#+|`[^`]*`",
    ".srt": r"<[^<>]*>|\{[^}]*\}|^\d.*-->.*$|^\d+$",
    ".vtt": r"<[^<>]*>|^\d.*-->.*$",
    ".xlf": r"<[^<>]*>",
}


@pytest.mark.parametrize("suffix", MAKERS)
def test_an_unchanged_text_gives_the_same_bytes(suffix: str) -> None:
    for seed in range(12):
        data = make_file(suffix, seed)
        document = open_document(data, f"x{suffix}", OPTIONS)
        written = document.write([same(paragraph) for paragraph in document.paragraphs])
        if suffix in (".po", ".xlf"):  # translations are added: then nothing is left to do
            again = open_document(written, f"x{suffix}", OPTIONS)
            assert again.paragraphs == []
            assert again.write([]) == written
        else:
            assert written == data


@pytest.mark.parametrize("suffix", MAKERS)
def test_every_text_is_changed_and_nothing_else(suffix: str) -> None:
    for seed in range(12):
        data = make_file(suffix, seed)
        document = open_document(data, f"x{suffix}", OPTIONS)
        written = document.write([marked(paragraph) for paragraph in document.paragraphs])
        if suffix in MARKUP and suffix != ".xlf":
            attributes = r'\b(alt|title|placeholder|content)=("[^"]*"|\'[^\']*\'|\w+)'
            plain = [re.sub(attributes, r"\1", text.decode()) for text in (data, written)]
            tags = [Counter(re.findall(MARKUP[suffix], text, re.MULTILINE)) for text in plain]
            assert tags[0] == tags[1], seed
        if suffix in (".po", ".xlf"):
            continue
        again = open_document(written, f"x{suffix}", OPTIONS)
        expected = " ".join(expected_text(paragraph) for paragraph in document.paragraphs)
        assert " ".join(p.text for p in again.paragraphs).split() == expected.split(), seed


def test_every_suffix_is_read_and_others_are_named() -> None:
    for suffix in SUFFIXES:
        with pytest.raises(HeadwayError) as raised:
            open_document(b"\xff\x00\x01", f"x{suffix}")
        assert "use one of" not in str(raised.value)
    with pytest.raises(HeadwayError, match=r"x\.exe: is no document that can be translated: use"):
        open_document(b"", "x.exe")
    assert not is_document("x.txt")
    assert not is_document("x.en")
    assert is_document("X.HTML")
