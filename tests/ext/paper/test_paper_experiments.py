"""Experiments end to end at toy scale, how results are kept, the report and the command."""

import base64
import os
import re
from xml.etree import ElementTree

import lxml.html
import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.ext.paper import report, reproduction
from headway.ext.paper.experiments import classification, table2, table3, wmt14
from headway.ext.paper.reproduction import Description, reproduce, write_report
from headway.ext.paper.results import Claim, Findings, Table
from headway.ext.paper.running.scales import SCALES
from headway.ext.paper.running.settings_tables import describe_regime
from headway.ext.paper.running.study import Study
from headway.locks import LOCK, DirectoryLock

# The other experiments run in test_paper_table1.py, test_paper_tables.py and test_paper_work.py.
TRAINED = ("tying", "schedule", "smoothing", "table2", "table3")
ARGUMENTS = ("feed_forward", "figures3to5", "arguments", "positions", "scaling")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("paper")


@pytest.fixture(autouse=True)
def _count_no_steps(monkeypatch):
    """Counting the steps of the paper's models takes seconds; test_paper_tables.py checks the counts."""
    for module in (table2, wmt14):
        monkeypatch.setattr(module, "count_step", lambda shape, tokens: 9.5e12)


@pytest.fixture
def without_parameters(monkeypatch):
    """Leave out the table of parameters, which builds all rows of Table 3."""
    monkeypatch.setattr(table3, "compare_parameters", list)


@pytest.mark.usefixtures("copied_trainings")
@pytest.mark.parametrize("name", [*TRAINED, *ARGUMENTS])
def test_an_experiment_runs_at_toy_size(name, folder):
    # What experiments conclude from their trainings is tested in test_paper_claims.py.
    result = reproduce(name, Study(folder, "toy", seeds=(1,)))
    assert result.name == name
    assert result.tables
    assert result.differs
    by_adam = ("schedule", "smoothing", "scaling", "feed_forward")
    assert ("Muon" in result.differs) == (name not in by_adam)
    assert all(claim.section for claim in result.claims)
    assert Findings.from_json((folder / f"{name}.json").read_text(encoding="utf-8")) == result
    for figure in result.figures:
        ElementTree.fromstring(figure.svg)
    if name in TRAINED:
        assert result.claims
        decided = [claim for claim in result.claims if "seed" not in claim.why]
        assert not any(claim.verdict == "does not" for claim in decided)


def test_both_encoders_classify_at_toy_size_and_are_not_trained_again(tmp_path, monkeypatch):
    work = Study(tmp_path, "toy", seeds=(1,))
    result = reproduce("classification", work)
    assert len(result.tables[0].rows) == 6
    assert len(result.claims) == 2
    pairs = classification.make_tasks(work)[1].examples
    assert {len(example.parts) for example in pairs} == {2}
    assert 0.3 < sum(example.label == "another" for example in pairs) / len(pairs) < 0.6
    monkeypatch.setattr("headway.ext.paper.running.study.run_trial", pytest.fail)
    (tmp_path / "classification.json").unlink()
    assert reproduce("classification", work).tables == result.tables


@pytest.mark.usefixtures("without_parameters")
@pytest.mark.parametrize("name", ["wmt14", "table3", "table4"])
def test_the_scale_paper_writes_settings_that_can_be_loaded(name, tmp_path):
    from headway.config import load

    result = reproduce(name, Study(tmp_path, "paper"))
    files = sorted((tmp_path / "settings").glob("*.toml"))
    commands = result.tables[-1].rows
    assert len(files) == len(commands)
    assert "Muon" not in result.differs  # nothing is trained
    for _, command in commands:
        path = re.search(r"--config (\S+)", str(command))
        assert path
        config = load("tiny", [path[1]])
        assert config.training.max_steps in (100_000, 300_000)
        assert config.model.d_model in (256, 512, 1024)


@pytest.mark.parametrize(
    ("name", "optimizers"),
    [("table2", {"muon", "adam"}), ("table4", {"muon"}), ("schedule", {"adam"})],
)
def test_what_is_about_the_papers_training_is_trained_so_and_a_result_says_what_is_not(
    name, optimizers, tmp_path, monkeypatch
):
    class Stop(Exception):
        pass

    def stop(work, planned):
        raise Stop

    monkeypatch.setattr(Study, "prepare_trials", stop)
    work = Study(tmp_path, "toy")
    with pytest.raises(Stop):
        reproduce(name, work)
    assert {training.optimizer for training in work.trained} == optimizers
    regime = describe_regime(work.trained)
    assert ("Muon instead of Adam" in regime) == ("muon" in optimizers)
    assert ("a weight decay of 0.3" in regime) == (name == "table4")


def fake(work):
    table = Table("A <table>", ("x", "y"), (("<b>", 1234567), (None, 0.00012)))
    claims = (
        Claim("c & d", "1", "2", "holds", p=0.0123),
        Claim("e", "1", "2", "not decided", p=0.3),
        Claim("its models have hardly learned", "1", "2", "not decided", p=0.001),
        Claim("f", "1", "2", "shown"),
    )
    return [table, *claims]


def test_finished_results_are_reused_and_shown(tmp_path, monkeypatch):
    calls = []

    def count(work):
        calls.append(work)
        return fake(work)

    parts = {"count": count, "plan": lambda work: []}
    module = type("Module", (), {name: staticmethod(part) for name, part in parts.items()})
    described = Description("F & G", "1", counted="much")
    monkeypatch.setattr(reproduction, "EXPERIMENTS", {"fake": described})
    monkeypatch.setattr(reproduction.importlib, "import_module", lambda name: module)
    shown = []
    first = reproduce("fake", Study(tmp_path, "minutes", show=shown.append))
    assert ", device cpu, no text given, code " in str(first.settings["work"])
    assert reproduce("fake", Study(tmp_path, "minutes", show=shown.append)) == first
    assert len(calls) == 1
    assert shown[-1] == "fake: done before"
    with pytest.MonkeyPatch.context() as patch:  # another version of the code
        patch.setattr(reproduction, "code_version", lambda *modules: "another")
        reproduce("fake", Study(tmp_path, "minutes", show=shown.append))
        assert shown[-3].startswith("fake: done again")
        assert len(calls) == 2
        calls.pop()
    reproduce("fake", Study(tmp_path, "minutes", seeds=(2, 3)))
    assert len(calls) == 2
    (tmp_path / "fake.json").write_text("{", encoding="utf-8")
    reproduce("fake", Study(tmp_path, "minutes"))
    assert len(calls) == 3
    content = (tmp_path / "fake.json").read_bytes()
    (tmp_path / "fake.json").write_bytes(content.replace(b"F & G", b"F \xff G"))
    write_report(Study(tmp_path, "minutes", show=shown.append))
    assert shown[-1].startswith(f"{tmp_path}/fake.json: not a result of an experiment")
    shown.clear()
    reproduce("fake", Study(tmp_path, "minutes", show=shown.append))
    assert shown[0].startswith(f"{tmp_path}/fake.json: not a result of an experiment")
    assert len(calls) == 4
    page = write_report(Study(tmp_path, "minutes")).read_text(encoding="utf-8")
    tree = lxml.html.fromstring(page)
    assert not [*tree.iter("script")]
    assert not [v for e in tree.iter() for v in e.attrib.values() if v.startswith(("http", "//"))]
    shown_text = tree.text_content()
    for words in ("F & G", "A <table>", "<b>", "1,234,567", "0.00012", "c & d", "holds", "much"):
        assert words in shown_text, words
    assert "Of 4 claims: holds 1, not decided 2, shown 1. 3 of the claims are trends" in shown_text
    assert "(Holm's rule), 1 is, with p up to 0.012." in shown_text
    assert "machine: torch " in shown_text
    assert ("p = 0.012" in shown_text, "p = 0.3" in shown_text) == (True, True)
    # Nothing was run at another scale.
    page = write_report(Study(tmp_path, "toy", show=shown.append)).read_text(encoding="utf-8")
    assert "F & G" not in page
    assert "Not shown: fake, " in page
    assert shown[-1].startswith("not in the report: fake, ")


def test_the_report_contains_its_figures(tmp_path):
    from headway.ext.paper import charts

    figure = charts.curves("Curve", {"a": [(1, 1.0), (2, float("nan")), (3, 2.0)]}, "x", "y")
    page = report.html([Findings(figures=(figure,))], "toy", Table("", (), ()), Table("", (), ()))
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert found
    assert base64.b64decode(found[1]).decode() == figure.svg


def test_one_table_has_all_claims_in_the_papers_order():
    def claim(text, verdict, section=""):
        return Claim(text, "", "+1.0 (+0.5 to +1.5)", verdict, "paired", section, 0.04, "Muon")

    results = [
        Findings(section="Figure 5", claims=(claim("heads", "holds"),)),
        Findings(section="6.1", claims=(claim("bigger", "not decided"), claim("count", "shown"))),
        Findings(section="6.2", claims=(claim("scale", "does not", "3.4"),)),
    ]
    page = report.html(results, "toy", Table("", (), ()), Table("", (), ()))
    table = page.split("<h2>All claims")[1].split("</table>")[0]
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    assert [row[:2] for row in rows] == [["3.4", "scale"], ["6.1", "bigger"], ["Figure 5", "heads"]]
    assert all(
        (row[2], row[4], row[5]) == ("+1.0 (+0.5 to +1.5)", "Muon", "paired") for row in rows
    )
    assert ["does not" in rows[0][3], "p = 0.04" in rows[0][3]] == [True, True]


def test_an_experiment_that_fails_does_not_stop_the_next(tmp_path, capsys, monkeypatch):
    def fail(work):
        raise HeadwayError("it fails")

    monkeypatch.setattr("headway.ext.paper.experiments.smoothing.plan", fail)
    words = ["smoothing", "tying", "--out", str(tmp_path), "--scale", "paper", "--seeds", "3"]
    assert dispatch(["reproduce", *words]) == 1
    captured = capsys.readouterr()
    assert "headway: smoothing: it fails\n" in captured.err
    assert captured.err.startswith("seed 3 alone: one training of each model has no interval")
    assert captured.out == f"{tmp_path / 'report.html'}\n"
    assert "Tied embeddings" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("copied_trainings")
def test_an_interrupted_experiment_leaves_its_finished_trainings(tmp_path, capsys, monkeypatch):
    run_trials = Study.run_trials

    def run_one(work, planned):
        run_trials(work, planned[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "run_trials", run_one)
    monkeypatch.setitem(SCALES, "minutes", SCALES["toy"])
    with pytest.raises(KeyboardInterrupt):
        dispatch(["reproduce", "smoothing", "--out", str(tmp_path)])
    page = tmp_path / "report.html"
    assert f"{page}: holds what is finished" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "Finished trainings" in text
    assert "bleu " in text
    assert "perplexity " in text


def test_a_second_command_in_the_same_directory_ends_before_it_does_anything(tmp_path, capsys):
    words = ["reproduce", "smoothing", "--scale", "paper", "--out", str(tmp_path)]
    with DirectoryLock(tmp_path):
        with pytest.raises(
            HeadwayError, match=f"{tmp_path}: process {os.getpid()} is at work here"
        ):
            dispatch(words)
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
        assert dispatch([*words, "--list"]) == 0  # it reads and writes nothing
    assert capsys.readouterr().err == ""
    assert dispatch(words) == 0
