"""docs/gallery.md: its figures are those of the pages that it links, and its commands are understood."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import VERBS

DOCS = Path(__file__).parents[1] / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (.*) \|$", GALLERY, re.M) if row.count("|") == 5][1:]
COMMANDS = re.findall(r"`headway ([a-z]+ [^`]*)`", GALLERY)


def section(page: str, anchor: str) -> str:
    """Return the text below a heading of a page, without sections of higher rank that follow."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for heading in re.finditer(r"^(#+) (.*)$", text, re.M):
        if re.sub(r"[^\w -]", "", heading[2].lower()).replace(" ", "-") == anchor:
            rest = text[heading.end() :]
            following = re.search(rf"^#{{1,{len(heading[1])}}} ", rest, re.M)
            return rest[: following.start()] if following else rest
    raise AssertionError(f"{page} has no section {anchor}")


@pytest.mark.parametrize("row", [row for row in ROWS if ".md#" in row], ids=lambda row: row[:20])
def test_the_figures_of_a_row_are_in_its_section(row: str) -> None:
    *_, time, score, more = row.split(" | ")
    [(page, anchor)] = re.findall(r"\(([\w-]+\.md)#([\w-]+)\)", more)
    text = section(page, anchor)
    figures = re.findall(
        r"(?<![\w.-])\d[\d.]*\d|(?<![\w.-])\d", re.sub(r"`.*?`", "", f"{time} {score}")
    )
    assert figures
    missing = [
        each for each in figures if not re.search(rf"(?<![\d.]){re.escape(each)}(?!\d)", text)
    ]
    assert not missing


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_understood(command: str) -> None:
    verb, *words = shlex.split(command)
    assert verb in VERBS
    parse(verb, importlib.import_module(f"headway.cli.verbs.{verb}"), words)
