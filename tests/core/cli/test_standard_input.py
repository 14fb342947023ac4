"""Lines of standard input are read as they arrive."""

import os

import pytest

from headway.cli.standard_input import read_input
from headway.errors import HeadwayError


@pytest.fixture
def writing(monkeypatch):
    """The other end of standard input."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as file:
        monkeypatch.setattr("sys.stdin", file)
        yield writing


def test_lines_are_read_as_they_arrive(writing):
    lines = read_input("translate")
    os.write(writing, b"\xef\xbb\xbfone\r\ntwo\nth")
    assert next(lines) == ["one", "two"]
    os.write(writing, b"ree\n\n" + "vier\u2028".encode())
    assert next(lines) == ["three", ""]
    os.close(writing)
    assert next(lines) == ["vier\u2028"]
    assert list(lines) == []


def test_lines_before_one_that_is_not_utf8_are_read(writing):
    os.write(writing, b"one\ntwo\n\xff\nfour\n")
    os.close(writing)
    lines = read_input("translate")
    assert next(lines) == ["one", "two"]
    with pytest.raises(HeadwayError, match="line 3: not UTF-8"):
        next(lines)
