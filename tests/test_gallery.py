"""docs/gallery.md: its figures are those of the pages that it links and of the settings, and its commands are understood."""

import re
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import list_verbs, load_verb
from headway.config import PRESETS
from headway.ext.demo.verbs.demo import RECIPE

DOCS = Path(__file__).parents[1] / "docs"
GALLERY = (DOCS / "gallery.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (.*) \|$", GALLERY, re.M) if row.count("|") == 5][1:]
SHAPE = ("--model.num-encoder-layers", "--model.num-decoder-layers", "--model.d-model")
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
    """A score in the rows of its tables that begin with the name of the model, if there are any."""
    name, *_, time, score, more = row.split(" | ")
    [(page, anchor)] = re.findall(r"\(([\w/-]+\.md)#([\w-]+)\)", more)
    text = section(page, anchor)
    own = [line for line in text.splitlines() if re.match(rf"\| {re.escape(name)}[ ,]", line)]
    for cell, place in ((time, text), (score, "\n".join(own) or text)):
        figures = re.findall(r"(?<![\w.-])\d[\d.]*\d|(?<![\w.-])\d", re.sub(r"`.*?`", "", cell))
        missing = [n for n in figures if not re.search(rf"(?<![\d.]){re.escape(n)}(?!\d)", place)]
        assert not missing
    assert figures


@pytest.mark.parametrize("row", [row for row in ROWS if ".md#" in row], ids=lambda row: row[:20])
def test_layers_and_width_are_those_that_the_commands_set(row: str) -> None:
    name, _, shape, *_, more = row.split(" | ")
    [(page, anchor)] = re.findall(r"\(([\w/-]+\.md)#([\w-]+)\)", more)
    text = section(page, anchor)
    presets, options = [name.strip("`")], {}
    if presets == ["demo"]:
        presets, options = [RECIPE["--preset"]], RECIPE
    elif presets[0] not in PRESETS:  # several commands, which train models of one shape
        presets = re.findall(r"--preset (\w+)", text)
        options = dict(re.findall(r"(--model\.[\w-]+) (\d+)\b", text))
    assert presets
    for preset in presets:
        model = asdict(PRESETS[preset].model)
        set_numbers = [
            int(options.get(option, model[option.removeprefix("--model.").replace("-", "_")]))
            for option in SHAPE
        ]
        assert shape == "{} + {}, {}".format(*set_numbers)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_understood(command: str) -> None:
    verb, *words = shlex.split(command)
    assert verb in list_verbs()
    parse(verb, load_verb(verb), words)
