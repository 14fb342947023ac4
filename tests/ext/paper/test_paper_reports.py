"""docs/paper.md: its tables, intervals, verdicts and counts are those of the reports."""

import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from headway.ext.paper.results import Claim
from headway.ext.paper.running.scales import BASES
from headway.ext.paper.verdicts import count_surviving
from support.documentation import ROOT, read_table

PAGE = Path("docs/paper.md")
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
# A mean with its interval, or alone.
INTERVAL = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?) \(([+-]?\d+(?:\.\d+)?) to ([+-]?\d+(?:\.\d+)?)\)")


@dataclass(frozen=True)
class Report:
    """What a report of `headway reproduce` has.

    Attributes:
        text: All of it, without tags.
        tables: The rows of each table, without their heads, by its title.
        claims: Of all experiments.
    """

    text: str
    tables: dict[str, list[list[str]]]
    claims: list[Claim]

    def claim(self, begin: str) -> Claim:
        """Return the claim that begins with these words."""
        [found] = [claim for claim in self.claims if claim.text.startswith(begin)]
        return found


@cache
def read_report(scale: str) -> Report:
    """Read the report of a scale in docs/."""
    page = (ROOT / "docs" / f"report-{scale}.html").read_text(encoding="utf-8")
    tables, claims = {}, []
    for title, table in re.findall(
        r'(?:<h3>([^<]*)</h3>)?<div class="scroll"><table>(.*?)</table>', page, re.S
    ):
        head, *rows = (
            [_without_tags(cell) for cell in re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row, re.S)]
            for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)
        )
        if title:
            tables[unescape(title)] = rows
        elif head == ["Claim", "Paper", "Here", "", "Why"]:
            for text, paper, here, judgement, why in rows:
                verdict, _, p = judgement.partition(" p ")  # "= 0.02" or "< 0.0001"
                value = float(p.split()[1]) if p else None
                claims.append(Claim(text, paper, here, verdict, why, p=value))  # type: ignore[arg-type]
    return Report(_without_tags(page), tables, claims)


def _without_tags(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


def find_intervals(text: str) -> list[tuple[tuple[float, float, float], float]]:
    """Return each mean with its interval, and how much it may be off by rounding."""
    found = []
    for match in INTERVAL.finditer(text):
        mean, low, high = (float(number.replace(",", "")) for number in match.groups())
        digits = len(match[1].partition(".")[2])
        found.append(((mean, low, high), 0.51 * 10**-digits))
    return found


def is_rounded(ours: str, theirs: str) -> bool:
    """Return whether two texts have the same interval, one each; the first may be rounded."""
    [(values, rounding)], [(known, _)] = find_intervals(ours), find_intervals(theirs)
    return all(abs(a - b) <= rounding for a, b in zip(values, known, strict=True))


def read_verdict(cell: str) -> str:
    """Return the verdict with which a cell of the page begins."""
    found = re.match("holds|does not|not decided", cell)
    assert found, cell
    return found[0]


@pytest.mark.parametrize(
    ("scale", "heading"),
    [("minutes", "Trained at the small size"), ("hours", "Trained on Multi30k")],
)
def test_table_3_is_that_of_the_report(scale: str, heading: str) -> None:
    tables = read_report(scale).tables
    differences = {
        label: [
            bleu, f"{float(paper_bleu):+.1f}", bleu_side or "–",
            nats, f"{float(paper_nats):+.3f}", nats_side or "–",
        ]
        for label, bleu, paper_bleu, bleu_side, nats, paper_nats, nats_side in tables[
            "Differences to the base with the same seed"
        ]
    }  # fmt: skip
    differences["base"] = [""] * 6
    scores = tables["The rows trained here: mean and 95 % interval over the seeds"]
    assert len(scores) == len(differences) == 20
    assert read_table(PAGE, "row", "perplexity", heading=heading) == [
        [label, perplexity, bleu, *differences[label]] for label, perplexity, _, bleu, *_ in scores
    ]


def test_heads_and_their_width_are_those_of_the_report() -> None:
    rows = read_report("minutes").tables["Heads and their width, changed together and apart"]
    assert read_table(PAGE, "training", "changes") == rows


def test_layers_are_those_of_the_reports() -> None:
    small, large = read_report("minutes"), read_report("hours")
    title = "Translators that differ only in their mixers"
    columns = ("layer of encoder and decoder", "BLEU", "perplexity")
    assert read_table(PAGE, *columns, "tokens/s of one core") == small.tables[title]
    rows = read_table(PAGE, *columns, "self-attention's BLEU less this one's")
    assert [[*scores, size] for *scores, _, size in rows] == [
        [*scores, size] for *scores, _, size in large.tables[title]
    ]
    for layer, _, _, difference, _ in rows[1:]:
        claim = large.claim(f"Self-attention in place of {layer} ")
        assert is_rounded(difference, claim.ours), layer


def check_rivals(scale: str, systems: list[list[str]], compared: list[list[str]]) -> None:
    """Check tables of the page.

    Args:
        scale: Of the report.
        systems: Name, BLEU, perplexity and parameters of each.
        compared: Of all but the Transformer: name, the Transformer's BLEU less that system's, and the verdict.
    """
    report = read_report(scale)
    known = {name: cells for name, *cells in report.tables["Systems trained on the same text"]}
    names = [name for name, *_ in compared]
    assert sorted(name for name, *_ in systems) == sorted(known) == sorted(["Transformer", *names])
    for name, bleu, perplexity, parameters in systems:
        assert is_rounded(bleu, known[name][0]), name
        assert is_rounded(perplexity, known[name][1]), name
        assert parameters == known[name][4], name
    for name, difference, verdict in compared:
        claim = report.claim(f"The Transformer translates better than {name}.")
        assert is_rounded(difference, claim.ours), name
        assert read_verdict(verdict) == claim.verdict, name


def test_rivals_on_the_built_in_corpus_are_those_of_the_report() -> None:
    rows = read_table(PAGE, "system", "BLEU", "perplexity", "processor time of a training")
    check_rivals(
        "minutes",
        [[*scores, size] for *scores, _, size in rows],
        read_table(PAGE, "the Transformer's BLEU less that of"),
    )
    known = read_report("minutes").tables["Systems trained on the same text"]
    assert {row[0]: row[3] for row in rows} == {row[0]: f"{row[3]} s" for row in known}


@pytest.mark.slow
def test_rivals_on_multi30k_are_those_of_the_report() -> None:
    rows = read_table(
        PAGE, "system", "BLEU", "perplexity", "the Transformer's BLEU less this one's"
    )
    check_rivals(
        "hours",
        [[*scores, size] for *scores, _, size, _ in rows],
        [[name, less, verdict] for name, _, _, less, _, verdict in rows if name != "Transformer"],
    )


@pytest.mark.parametrize(
    ("scale", "sentence"),
    [
        ("minutes", r"Of the (?P<claims>\d+) claims of the report, (?P<trends>\d+) are trends\b[^.;]*; judged together by Holm's rule, (?P<decided>\d+) of them are decided"),
        ("hours", r"of its (?P<trends>\d+) trends with a side, (?P<decided>\d+) are decided if they are judged together \(Holm's rule\)"),
    ],
)  # fmt: skip
def test_claims_and_trends_are_counted_as_in_the_report(scale: str, sentence: str) -> None:
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


@pytest.mark.parametrize("scale", ["minutes", "hours"])
def test_a_report_says_of_longer_trainings_too_when_their_rate_falls(scale: str) -> None:
    training = BASES[scale].training
    share = f"{100 * training.cool_steps / training.max_steps:.0f} % of the steps"
    assert set(re.findall(r"falls to zero in the last (.*?)\.", read_report(scale).text)) == {share}


@pytest.mark.parametrize(
    ("scale", "sections"),
    [
        (
            "minutes",
            [
                ("## What was trained", "### On Multi30k"),
                ("### Trained at the small size", "### Trained on Multi30k"),
                ("## Rivals", "### Rivals on Multi30k"),
                ("### Classifiers and memory", "## Departures"),
            ],
        ),
        (
            "hours",
            [
                ("### On Multi30k", "## Table 2"),
                ("### Trained on Multi30k", "### On a GPU"),
                ("### Rivals on Multi30k", "### Classifiers"),
            ],
        ),
    ],
)
def test_every_interval_is_in_the_report(scale: str, sections: list[tuple[str, str]]) -> None:
    known = [values for values, _ in find_intervals(read_report(scale).text)]
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
    ("scale", "begin", "end"),
    [
        ("minutes", "## What was trained", "### On Multi30k"),
        ("hours", "### On Multi30k", "## Table 2"),
    ],
)
def test_verdicts_of_the_text_are_those_of_the_report(scale: str, begin: str, end: str) -> None:
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
    assert count >= 15
