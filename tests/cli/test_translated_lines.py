"""What `headway translate` writes for a line."""

import json
from argparse import Namespace

import pytest

from headway.cli.translated_lines import format_lines
from headway.inference.translation import Translation

PLAIN = {"json": False, "scores": False, "alignment": False}


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        ("  - A cat.  ", "- Eine Katze.", "  - Eine Katze.  "),
        ("\tA cat.", "Eine Katze.", "\tEine Katze."),
        ("A cat.", "Eine Katze.", "Eine Katze."),
        # These come back as they are.
        (" \t ", " \t ", " \t "),
        ("", "", ""),
        ("  ***\u00a0", "  ***\u00a0", "  ***\u00a0"),
    ],
)
def test_white_space_around_a_line_stays(line: str, text: str, expected: str) -> None:
    found = [Translation(text, 0.0, 0.0, []), Translation("Katze.", 0.0, 0.0, [])]
    assert format_lines(line, found[:1], Namespace(**PLAIN), "\r\n") == f"{expected}\r\n"
    # The columns of a table and the fields of JSON have none of it.
    scores = format_lines(line, found[:1], Namespace(**PLAIN | {"scores": True}))
    assert scores == f"0.0000\t{text}\n"
    as_json = format_lines(line, found, Namespace(**PLAIN | {"json": True}))
    assert json.loads(as_json)["translations"][0]["text"] == text
