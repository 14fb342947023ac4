"""The input of a translation: counted, hashed and checked before the work begins."""

import gzip

import pytest

from headway.errors import HeadwayError
from headway.text.input_text import InputText
from headway.text.lines import LONGEST, read_lines

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


def test_a_change_of_the_text_changes_its_digest(tmp_path):
    path = tmp_path / "a"
    digests = set()
    for text in ("a\nb\n", "a\nc\n", "a\nb\n\n"):
        path.write_text(text)
        digests.add(InputText.scan(path).sha256)
    assert len(digests) == 3
