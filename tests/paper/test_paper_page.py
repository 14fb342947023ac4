"""docs/paper.md: its names exist, and its numbers and verdicts are those of the code and of the reports."""

import re
from html import unescape

import pytest

from headway.config import PRESETS
from headway.config.departures import list_departures
from headway.paper.reproduction import EXPERIMENTS
from support.documentation import ROOT

DOCS = ROOT / "docs"
TEXT = (DOCS / "paper.md").read_text(encoding="utf-8")


def test_the_document_names_every_departure_of_base_and_big() -> None:
    section = TEXT.split("## Departures from the paper")[1].split("The experiments depart")[0]
    named = {name.split(".")[-1] for name in re.findall(r"`([a-z_.]+)`", section)}
    for preset in ("base", "big"):
        nearest, departures = list_departures(PRESETS[preset])
        assert nearest == preset
        assert {name for some in departures.values() for name in some} <= named


def test_the_document_names_existing_files_and_commands() -> None:
    named = re.findall(r"`reproduce (\w+)`|headway reproduce (\w+)", TEXT)
    assert {one or other for one, other in named} == {*EXPERIMENTS, "all"}
    paths = re.findall(r"`([a-z_0-9/]+\.py)`", TEXT)
    assert len(paths) > 20
    for path in paths:
        folder = ROOT if path.startswith(("tests/", "benchmarks/")) else ROOT / "src" / "headway"
        assert (folder / path).is_file(), path
    for target in re.findall(r"\]\((\w[\w-]*\.md)\)", TEXT):
        assert (DOCS / target).is_file(), target


TRIPLE = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?) \(([+-]?\d+(?:\.\d+)?) to ([+-]?\d+(?:\.\d+)?)\)")


def find_intervals(text: str) -> list[tuple[tuple[float, float, float], float]]:
    """Each mean with its interval, and how much it may be off by rounding."""
    found = []
    for match in TRIPLE.finditer(text):
        mean, low, high = (float(number.replace(",", "")) for number in match.groups())
        digits = len(match[1].partition(".")[2])
        found.append(((mean, low, high), 0.51 * 10**-digits))
    return found


@pytest.mark.parametrize(
    ("report", "sections"),
    [
        (
            "report-minutes.html",
            [
                ("## What was trained", "### On Multi30k"),
                ("### Trained at the small size", "### Trained on Multi30k"),
                ("## Rivals", "### Rivals on Multi30k"),
                ("### Classifiers and memory", "## Departures"),
            ],
        ),
        (
            "report-hours.html",
            [
                ("### On Multi30k", "## Table 2"),
                ("### Trained on Multi30k", "### On a GPU"),
                ("### Rivals on Multi30k", "### Classifiers"),
            ],
        ),
    ],
)
def test_the_documents_intervals_are_those_of_the_report(
    report: str, sections: list[tuple[str, str]]
) -> None:
    page = (DOCS / report).read_text(encoding="utf-8")
    known = [values for values, _ in find_intervals(unescape(re.sub("<[^>]+>", " ", page)))]
    parts = [TEXT.split(begin)[1].split(end)[0] for begin, end in sections]
    # The treebank is not in the report.
    lines = [line for part in parts for line in part.splitlines() if "GUM" not in line]
    intervals = [found for line in lines for found in find_intervals(line)]
    assert len(intervals) > 100
    for (mean, low, high), rounding in intervals:
        # A difference may be told from the other side.
        both = (mean, low, high), (-mean, -high, -low)
        assert any(
            all(abs(a - b) <= rounding for a, b in zip(values, each, strict=True))
            for values in known
            for each in both
        ), f"{mean} ({low} to {high})"


@pytest.mark.parametrize(
    ("report", "begin", "end"),
    [
        ("report-minutes.html", "## What was trained", "### On Multi30k"),
        ("report-hours.html", "### On Multi30k", "## Table 2"),
    ],
)
def test_the_documents_verdicts_are_those_of_the_report(report: str, begin: str, end: str) -> None:
    """A row of the document has the verdict of a claim whose interval it has."""
    judged = []
    for row in re.findall(r"<tr>(.*?)</tr>", (DOCS / report).read_text(encoding="utf-8"), re.S):
        if verdict := re.search(r'class="v [\w-]+">(.*?)<', row):
            judged.append((find_intervals(unescape(re.sub("<[^>]+>", " ", row))), verdict[1]))
    rows = TEXT.split(begin)[1].split(end)[0]
    count = 0
    for row in rows.splitlines():
        verdict = re.search(r"\| (holds|does not|not decided)\b", row)
        if not row.startswith("|") or not verdict or "GUM" in row:
            continue
        own = find_intervals(row)
        # A difference may be told from the other side.
        own += [((-mean, -high, -low), rounding) for (mean, low, high), rounding in own]
        verdicts = {
            known
            for intervals, known in judged
            for values, _ in intervals
            for each, rounding in own
            if all(abs(a - b) <= rounding for a, b in zip(values, each, strict=True))
        }
        assert not verdicts or verdict[1] in verdicts, row
        count += bool(verdicts)
    assert count >= 15
