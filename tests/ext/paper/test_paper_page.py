"""docs/evidence/paper.md: its names exist, and its rules and numbers are those of the code."""

import re
from pathlib import Path

from headway.config import PRESETS
from headway.config.departures import list_departures
from headway.evaluation.metrics import METRICS
from headway.ext.paper.published import TRANSFORMERS
from headway.ext.paper.reproduction import EXPERIMENTS
from support.documentation import ROOT, read_table

DOCS = ROOT / "docs"
PAGE = Path("docs/evidence/paper.md")
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
# All sections of the paper that have a text of their own, but for the introduction.
SECTIONS = [
    "2", "3.1", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "4", "5.1", "5.2", "5.3", "5.4", "6.1", "6.2", "6.3", "7",
]  # fmt: skip


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


def test_every_section_of_the_paper_has_a_row_and_its_equations_are_three():
    rows = read_table(PAGE, "section", "code")
    numbers = [re.split("[a-zA-Z]", row[0])[0] for row in rows]  # before the name: "3.1, 3.2.3 "
    assert sorted({*re.findall(r"\d[\d.]*", " ".join(numbers))}) == SECTIONS
    assert {int(number) for number in re.findall(r"equation (\d+)", TEXT)} == {1, 2, 3}


def test_no_metric_is_named_for_scores_whose_script_is_not_known():
    rows = read_table(PAGE, "published score", "test set")
    base, big = TRANSFORMERS["base"], TRANSFORMERS["big"]
    found = {score: metric.strip("`") for score, *_, metric in rows}
    german = f"{base.en_de} base, {big.en_de} big (the paper)"
    french = f"{base.en_fr} base, {big.en_fr} big (the paper; its section 6.1 says 41.0)"
    assert (found[german], found[french]) == ("bleu_paper", "none")
    assert {*found.values()} <= {metric.key for metric in METRICS} | {"none"}
    assert [score for score, metric in found.items() if metric == "none"] == [french]


def test_additive_attention_costs_the_same_on_each_page():
    costs = re.compile(r"(\d+) times the time(?:,| and) (\d+) times the memory")
    found = [
        set(costs.findall((DOCS / name).read_text(encoding="utf-8")))  # a report says it twice
        for name in ("evidence/paper.md", "evidence/paper-layers.md", "report-minutes.html")
    ]
    assert found == [found[0]] * 3
    assert len(found[0]) == 1
