"""The recorded terminal shows what the commands wrote, in no more than a bearable time."""

import sys
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from support.documentation import ROOT

sys.path.insert(0, str(ROOT / "website"))
import record

COMMANDS = [
    "printf 'step 1\\rstep 2\\r\\n\\033[1mbold & <b>\\033[0m\\n'; printf 'no end'",
    f"printf '{'x' * (record.COLUMNS + 7)}\\n'",
]
SVG = "{http://www.w3.org/2000/svg}"
SHOWN = [
    f"$ {COMMANDS[0]}",
    "step 2",
    "bold & <b>",
    "no end",
    f"$ {COMMANDS[1]}",
    "x" * record.COLUMNS,
    "x" * 7,
]


def test_the_last_frame_is_what_a_terminal_shows() -> None:
    rows, seconds = record.draw_rows(COMMANDS, [record.record(command) for command in COMMANDS])
    last = [row for row, end in record.thin_out(rows) if end is None]
    assert [row.text for row in sorted(last)] == SHOWN
    assert max(row.seconds for row in rows) <= seconds


def test_the_picture_has_each_row_once_at_a_time() -> None:
    rows, seconds = record.draw_rows(COMMANDS, [record.record(command) for command in COMMANDS])
    picture = ElementTree.fromstring(record.write_svg(record.thin_out(rows), seconds))
    texts = picture.findall(f".//{SVG}text")
    still = [text.text for text in texts if "opacity: 0" not in text.attrib["style"]]
    assert still == SHOWN
    thinned = record.thin_out(rows)
    for number in {row.number for row, _ in thinned}:
        times = [(row.seconds, end) for row, end in thinned if row.number == number]
        assert all(end == start for (_, end), (start, _) in pairwise(times))


def test_a_long_command_is_shown_in_less_time_and_the_picture_says_so() -> None:
    rows, seconds = record.draw_rows(["sleep"], [[(5.0, "a\n"), (600.0, "b\n")]])
    assert seconds < record.LONGEST + 5
    assert rows[-1].text == "(10 minutes, shown 50 times as fast)"
    assert rows[-1].seconds >= next(row.seconds for row in rows if row.text == "b")


def test_the_picture_ends_at_the_last_rows() -> None:
    many = record.ROWS + 12
    rows, seconds = record.draw_rows(["seq"], [[(0.1 * n, f"{n}\n") for n in range(many)]])
    drawn = record.write_svg(record.thin_out(rows), seconds)
    picture = ElementTree.fromstring(drawn)
    assert int(picture.attrib["viewBox"].split()[3]) == record.ROWS * record.HEIGHT + 52
    assert f"#rows {{ transform: translateY({-13 * record.HEIGHT}px)" in drawn
    assert f"translateY({-record.HEIGHT}px)" in drawn  # row after row
    [rows_group] = picture.findall(f".//{SVG}g[@id='rows']")
    assert [text.text for text in rows_group][-1] == str(many - 1)


def test_a_command_that_fails_is_not_recorded() -> None:
    with pytest.raises(SystemExit, match="exit code 3: exit 3"):
        record.record("exit 3")
