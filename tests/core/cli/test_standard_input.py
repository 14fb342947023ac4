"""Lines of standard input are read as they arrive."""

import os

import pytest

from headway.cli.standard_input import read_arriving_lines
from headway.errors import HeadwayError


def test_lines_are_read_as_they_arrive() -> None:
    reading, writing = os.pipe()
    lines = read_arriving_lines(reading)
    os.write(writing, b"\xef\xbb\xbfone\r\ntwo\nth")
    assert next(lines) == ["one", "two"]
    os.write(writing, b"ree\n\n" + "vier\u2028".encode())
    assert next(lines) == ["three", ""]
    os.close(writing)
    assert next(lines) == ["vier\u2028"]
    assert list(lines) == []
    os.close(reading)


def test_lines_before_one_that_is_not_utf8_are_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n\xff\nfour\n")
    os.close(writing)
    lines = read_arriving_lines(reading)
    assert next(lines) == ["one", "two"]
    with pytest.raises(HeadwayError, match="line 3: not UTF-8"):
        next(lines)
    os.close(reading)
