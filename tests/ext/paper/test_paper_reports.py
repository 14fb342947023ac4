"""docs/evidence/paper.md: its tables, intervals, verdicts and counts are those of the reports."""

import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path

from headway.config import PRESETS
from headway.config.departures import list_departures
from headway.ext.paper.reproduction import EXPERIMENTS
from headway.ext.paper.results import Claim
from headway.ext.paper.verdicts import count_surviving
from support.cases import each_case
from support.documentation import ROOT

PAGE = Path("docs/evidence/paper.md")
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
# A mean with its interval, or alone.
INTERVAL = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?) \(([+-]?\d+(?:\.\d+)?) to ([+-]?\d+(?:\.\d+)?)\)")


@dataclass(frozen=True)
class Report:
    """What a report of `headway reproduce` has.

    Attributes:
        text: All of it, without tags.
        claims: Of all experiments.
    """

    text: str
    claims: list[Claim]


@cache
def read_report(scale):
    """Read the report of a scale in docs/."""
    page = (ROOT / "docs" / f"report-{scale}.html").read_text(encoding="utf-8")
    claims = []
    for table in re.findall(r'<div class="scroll"><table>(.*?)</table>', page, re.S):
        head, *rows = (
            [_without_tags(cell) for cell in re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row, re.S)]
            for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)
        )
        # Older parts of a page have no column of optimizers.
        if [name for name in head if name != "Optimizer"] == ["Claim", "Paper", "Here", "", "Why"]:
            for text, paper, here, judgement, *_, why in rows:
                verdict, _, p = judgement.partition(" p ")  # "= 0.02" or "< 0.0001"
                value = float(p.split()[1]) if p else None
                claims.append(Claim(text, paper, here, verdict, why, p=value))
    return Report(_without_tags(page), claims)


def _without_tags(html):
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


def find_intervals(text):
    """Return each mean with its interval, and how much it may be off by rounding."""
    found = []
    for match in INTERVAL.finditer(text):
        mean, low, high = (float(number.replace(",", "")) for number in match.groups())
        digits = len(match[1].partition(".")[2])
        found.append(((mean, low, high), 0.51 * 10**-digits))
    return found


@each_case
def test_claims_and_trends_are_counted_as_in_the_report(scale, sentence):
    report = read_report(scale)
    trends = [claim for claim in report.claims if claim.p is not None]
    # What is not decided alone is not decided together with others.
    values = [1.0 if trend.verdict == "not decided" else trend.p or 0.0 for trend in trends]
    counts = {
        "claims": len(report.claims),
        "trends": len(trends),
        "decided": count_surviving(values),
    }
    assert f"Of {counts['claims']} claims:" in report.text
    found = re.search(sentence, " ".join(TEXT.split()))
    assert found
    numbers = {name: int(number) for name, number in found.groupdict().items()}
    assert numbers.items() <= counts.items()


@each_case
def test_every_interval_is_in_the_report(scale, sections):
    known = [values for values, _ in find_intervals(read_report(scale).text)]
    parts = [TEXT.split(begin)[1].split(end)[0] for begin, end in sections]
    # The treebank is not in the report.
    lines = [line for part in parts for line in part.splitlines() if "GUM" not in line]
    intervals = [found for line in lines for found in find_intervals(line)]
    assert len(intervals) > 75
    for (mean, low, high), rounding in intervals:
        # A difference may be told from the other side.
        both = (mean, low, high), (-mean, -high, -low)
        assert any(
            all(abs(a - b) <= rounding for a, b in zip(values, each, strict=True))
            for values in known
            for each in both
        ), f"{mean} ({low} to {high})"


@each_case
def test_verdicts_of_the_text_are_those_of_the_report(scale, begin, end):
    """Each row of the page has the same verdict as the claim of the report with the same interval."""
    judged = [(find_intervals(claim.ours), claim.verdict) for claim in read_report(scale).claims]
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
    assert count >= 12


def test_the_document_names_every_departure_of_base_and_big():
    section = TEXT.split("## Departures from the paper")[1].split("The experiments depart")[0]
    named = {name.split(".")[-1] for name in re.findall(r"`([a-z_.]+)`", section)}
    for preset in ("base", "big"):
        nearest, departures = list_departures(PRESETS[preset])
        assert nearest == preset
        assert {name for some in departures.values() for name in some} <= named


def test_the_document_names_existing_files_and_commands():
    named = re.findall(r"`reproduce (\w+)`|headway reproduce (\w+)", TEXT)
    assert {one or other for one, other in named} == {*EXPERIMENTS, "all"}
    paths = re.findall(r"`([a-z_0-9/]+\.py)`", TEXT)
    assert len(paths) > 20
    for path in paths:
        folder = ROOT if path.startswith(("tests/", "benchmarks/")) else ROOT / "src" / "headway"
        assert (folder / path).is_file(), path
    for target in re.findall(r"\]\(([\w./-]+\.md)\)", TEXT):
        assert (ROOT / PAGE).parent.joinpath(target).is_file(), target
