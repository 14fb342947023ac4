"""Each promise has a test and a campaign that exist, and each measured promise has a row."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path

from support.documentation import ROOT, read_table

TEXT = (ROOT / "docs" / "evidence" / "promises.md").read_text(encoding="utf-8")
COLUMNS = ["promise", "made in", "test", "campaign"]
LINES = [line for line in TEXT.splitlines() if line.startswith("| ")]
ROWS = [cells for line in LINES if (cells := [c.strip() for c in line.split("|")[1:-1]]) != COLUMNS]
SAME = "–"  # checks the whole promise


@cache
def list_functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_promise_has_a_test_and_a_campaign():
    for row in ROWS:
        assert len(row) == len(COLUMNS), row
        assert all(row), row
        _, pages, tests, campaign = row
        assert re.fullmatch(r"\[[^]]+\]\([^)]+\)( \d+)?(, \[[^]]+\]\([^)]+\)( \d+)?)*", pages), row
        for named in tests.split(", "):
            path, _, name = named.strip("`").partition("::")
            assert name.startswith("test_"), named
            assert name in list_functions(ROOT / path), named
        if campaign != SAME:
            script, *words = shlex.split(campaign.strip("`"))
            code = (ROOT / script).read_text(encoding="utf-8")
            for option in (word for word in words if word.startswith("--")):
                assert f'"{option}"' in code, f"{script} has no {option}"


def test_every_promise_of_the_page_on_reliability_has_a_row():
    numbers = {row[0] for row in read_table(Path("docs/evidence/reliability.md"), "", "promise")}
    assert len(numbers) > 20
    assert numbers == {
        number for row in ROWS for number in re.findall(r"reliability\.md\) (\d+)", row[1])
    }
    reliability = (ROOT / "docs" / "evidence" / "reliability.md").read_text(encoding="utf-8")
    scripts = set(re.findall(r"tests/outside/\w+\.py", reliability))
    assert scripts <= set(re.findall(r"tests/outside/\w+\.py", TEXT))


def test_no_promise_is_listed_twice():
    promises = [row[0] for row in ROWS]
    assert len(set(promises)) == len(promises)
