"""Text that is not UTF-8: it is recognized, or converted by name, or reading stops with advice."""

import gzip
import io
import os
import sys
import zipfile

import pytest

from headway.cli.standard_input import read_input
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.encodings import check_encoding, likely_encoding
from headway.text.input_text import InputText
from headway.text.lines import LONGEST, Damaged, read_lines, scan_lines
from headway.text.preparation.preparing import prepare
from headway.text.readers import FileForm
from support.cases import each_case

LINES = ["Grüße, Señor Łukasz", "", "zwei\u2028drei 😀", "„vier“"]
CONFIG = TextConfig(vocab_size=331, max_ratio=0)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-be"])
def test_unicode_is_recognized(tmp_path, encoding, end):
    path = tmp_path / "a.txt"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path.write_bytes((mark + end.join(LINES) + end).encode(encoding))
    assert list(read_lines(path)) == LINES


def test_damaged_utf16_is_marked(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff\xfe" + "one\ntwo\n".encode("utf-16-le") + b"\x00\xd8\x0a\x00x\x00")
    found = list(scan_lines(path))
    assert found[:2] == ["one", "two"]
    assert isinstance(found[2], Damaged)
    assert found[2].line == 3


@each_case
def test_an_encoding_is_converted_by_name_and_utf8_stays(tmp_path, encoding, line):
    path = tmp_path / "a.txt"
    path.write_bytes(b"ascii\n" + line.encode(encoding) + b"\r\n" + "schön 日本\n".encode())
    assert list(scan_lines(path, encoding)) == ["ascii", line, "schön 日本"]


@each_case
def test_an_encoding_that_escapes_in_ascii_is_read_by_name(tmp_path, encoding, lines):
    path = tmp_path / "a.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    assert list(scan_lines(path, encoding)) == lines


@pytest.mark.parametrize(
    ("languages", "encoding"),
    [(("en", "de"), "cp1252"), (("en", "pl_PL"), "cp1250"), (("ru", "en"), "cp1251"), (("en", "zh-Hans"), "gb18030")],
)  # fmt: skip
def test_the_likely_encoding_is_the_one_of_the_language(languages, encoding):
    assert likely_encoding(languages) == encoding
    check_encoding(encoding)


def corpus(folder, encoding, foreign):
    """Write 100 pairs; the targets of the first ones need the encoding."""
    paths = [folder / "a.en", folder / "a.de"]
    paths[0].write_text("".join(f"{n} a b c\n" for n in range(100)))
    lines = [f"{n} {'ä' if n < foreign else 'a'} b z\n" for n in range(100)]
    paths[1].write_bytes("".join(lines).encode(encoding))
    return paths


def test_text_that_is_mostly_unreadable_stops_and_names_the_way_out(tmp_path):
    train = corpus(tmp_path, "cp1252", foreign=90)
    with pytest.raises(HeadwayError) as error:
        prepare(train, 10, tmp_path / "out", CONFIG)
    assert str(error.value) == (
        f"{train[1]}: 90 of 100 pairs cannot be read; the first is in line 1: not UTF-8: byte 0xe4 at"
        " position 3: if it is cp1252, give --encoding cp1252"
    )
    assert not (tmp_path / "out").exists()
    data = prepare(train, 10, tmp_path / "out", CONFIG, form=FileForm("cp1252"))
    assert len(data.train) == 90
    assert any("ä" in text for text in data.valid_target)


def test_some_unreadable_lines_are_dropped(tmp_path):
    train = corpus(tmp_path, "cp1252", foreign=13)
    assert len(prepare(train, 10, tmp_path / "out", CONFIG).train) == 100 - 13 - 10
    few = TextConfig(vocab_size=331, max_ratio=0, max_unreadable=0.09)
    with pytest.raises(HeadwayError, match="13 of 100 pairs cannot be read"):
        prepare(train, 10, tmp_path / "few", few)


def office(member):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types>\n</Types>")
        archive.writestr(member, "<x/>")
    return file.getvalue()


OFFICE = "an office file or an archive: save it as plain text or as CSV, in UTF-8; to translate it whole, give its name its suffix"
INPUTS = [
    (office("word/document.xml"), OFFICE),
    (office("xl/workbook.xml"), OFFICE),
    (b"%PDF-1.7\n", "a document in PDF or RTF: save it as plain text in UTF-8"),
    (b"<!DOCTYPE html>\n<p>one</p>\n", "an HTML page"),
    (b"\xef\xbb\xbf<html lang='en'>\n", "an HTML page"),
    (b"<?xml version='1.0'?>\n<xliff/>\n", "an XML document"),
    (b"WEBVTT\n\n00:01.000 --> 00:02.000\none\n", "subtitles"),
    (b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\none\r\n", "subtitles"),
]


@pytest.mark.parametrize(
    "text", ["1\n2\n", "1", "1\n\n00:00\n", "<htmls>\n", "<!doctypes\n", "\n1\n"]
)
def test_lines_that_begin_like_markup_are_text(tmp_path, text):
    path = tmp_path / "a.en"
    path.write_text(text)
    assert list(read_lines(path)) == text.removesuffix("\n").split("\n")


@pytest.mark.parametrize(("content", "words"), INPUTS)
def test_a_document_on_standard_input_is_named(content, words, monkeypatch):
    read_end, write_end = os.pipe()
    os.write(write_end, content)
    os.close(write_end)
    with os.fdopen(read_end) as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(HeadwayError, match=rf"^standard input: {words}"):
            list(read_input("translate"))


def test_utf16_on_standard_input_is_named(monkeypatch):
    read_end, write_end = os.pipe()
    os.write(write_end, "Grüße\n".encode("utf-16"))
    os.close(write_end)
    message = r"^standard input: UTF-16: .*: iconv -f UTF-16 -t UTF-8$"
    with os.fdopen(read_end) as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(HeadwayError, match=message):
            list(read_input("translate"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognized_by_its_zero_bytes(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes("Good morning\nGrüße\n".encode(encoding))
    assert list(read_lines(path)) == ["Good morning", "Grüße"]


def test_bytes_that_are_no_character_of_the_encoding_are_damaged(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"ascii\n\xe9\x81\n")
    damaged = list(scan_lines(path, "cp1252"))[1]
    assert isinstance(damaged, Damaged)
    assert damaged.reason == "not UTF-8 or cp1252: byte 0x81 at position 2"


TEXTS = {
    "plain": "ein Haus\nzwei Bäume\n".encode() * 9,
    "no end": "größer\nals ß".encode(),
    "CRLF": b"a\r\nb\r\n\r\nc\r\n",
    "mark": b"\xef\xbb\xbfa\nb\n",
    "empty": b"",
    "blank": b"\n\n\n",
    "zeros": b"a\0b\nc\n",
    "utf-16": "ein Haus\nzwei Bäume\n".encode("utf-16"),
    "utf-16 without a mark": "ein Haus\nĊ und Ċ\n".encode("utf-16-le"),
    "long": b"x" * (LONGEST - 1) + b"\ny\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_has_as_many_lines_as_are_read(kind, tmp_path):
    for name, content in [("a.txt", TEXTS[kind]), ("a.txt.gz", gzip.compress(TEXTS[kind]))]:
        path = tmp_path / name
        path.write_bytes(content)
        assert InputText.scan(path).lines == sum(1 for _ in read_lines(path))
    texts = {InputText.scan(tmp_path / name).sha256 for name in ("a.txt", "a.txt.gz")}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n\xff\n", r":2: not UTF-8"),
        ("a\nß".encode()[:-1], r":2: not UTF-8"),
        (b"a\n" + b"x" * LONGEST + b"\n", r":2: longer than"),
        (b"%PDF-1.7\n", r"a document in PDF"),
        (gzip.compress(b"a\n" * 99, mtime=0)[:-4], r"cut off"),
    ],
)
def test_text_that_cannot_be_read_is_refused(content, message, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(HeadwayError, match=message):
        InputText.scan(path)
