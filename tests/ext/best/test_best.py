"""``headway best``: kills, changed options, the plan, and the figures of the report."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest

import headway
import headway.ext.best.recipe_numbers
from headway.cli.main import dispatch, main
from headway.errors import HeadwayError, UsageError
from headway.ext.best import report, running
from headway.files import replace_text
from headway.locks import DirectoryLock
from headway.translation import Translator
from support.processes import fork
from support.recipes import MODELS, NUMBERS, OPTIONS, SCALE, run_forked


@pytest.fixture(scope="module", autouse=True)
def _small_recipe():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_child", run_forked)
        patch.setattr(headway.ext.best.recipe_numbers, "SCALES", (SCALE,))
        for name, value in NUMBERS.items():
            patch.setattr(headway.ext.best.recipe_numbers, name, value)
        patch.setattr(report, "find_spec", lambda name: None)  # curves take seconds
        yield


@pytest.fixture(scope="module")
def finished(corpus, uninterrupted_run, tmp_path_factory):
    """The directory of a recipe that nothing interrupted.

    After a training and an evaluation here, forks have all modules.
    """
    out = tmp_path_factory.mktemp("best") / "out"
    text = ["--source", corpus[-2], "--reference", corpus[-1]]
    assert dispatch(["evaluate", str(uninterrupted_run), *text]) == 0
    assert dispatch(["best", str(out), *corpus, *OPTIONS]) == 0
    return out


def scores(capsys, *words):
    capsys.readouterr()
    dispatch(["evaluate", *map(str, words), "--json"])
    found = json.loads(capsys.readouterr().out)["scores"]
    return {name: found[name]["score"] for name in ("bleu", "chrf")}


def test_a_recipe_that_is_killed_again_and_again_ends_with_the_same_bits(
    finished, corpus, tmp_path
):
    """Before and after there is a plan, between two stages, and in trainings, which go on from a checkpoint."""
    out = tmp_path / "out"

    def saved(name):
        return any((out / "runs" / name).glob("checkpoints/step-*"))

    started = time.monotonic()
    moments = (
        lambda: time.monotonic() > started + 0.1,
        lambda: (out / "plan").exists(),
        lambda: (out / "stages" / "sweep-1.json").exists(),
        lambda: saved("forward-1"),
        lambda: saved("student"),
        lambda: False,
    )
    for number, is_time in enumerate(moments):
        process = go_on(out, () if (out / "plan").exists() else (*corpus, *OPTIONS), is_time)
        if number == 2:  # as if it had been killed before it recorded what was finished
            (out / "stages" / "sweep-1.json").unlink()
        if number == 3:
            assert not (out / "stages" / "forward-1.json").exists()
            report = (out / "report.html").read_text()
            assert "<b>backward</b>" in report
            assert "<b>forward-1</b>" not in report
    assert process.exitcode == 0
    for name in MODELS:
        assert (out / name).read_bytes() == (finished / name).read_bytes(), name
    for stage in (finished / "stages").iterdir():
        assert (out / "stages" / stage.name).exists()
    assert not list(out.rglob(".tmp-*"))


def go_on(out, words, is_time):
    """Go on with a recipe until it is time to kill it; return the process."""
    for _ in range(100):
        process = fork(main, ["best", str(out), *words])
        while process.is_alive() and not is_time():
            time.sleep(0.002)
        process.kill()
        process.join()
        if process.exitcode != 1:
            break
        # The training of the killed recipe ends a moment after it; until then, another one is refused.
        time.sleep(0.05)
    return process


def test_the_figures_of_the_report_are_those_of_evaluate(finished, corpus, capsys):
    source, reference = corpus[-2:]
    page = (finished / "report.html").read_text()
    card = (finished / "README.md").read_text()
    for name in ("sweep-2", "forward-1", "final"):
        found = scores(
            capsys, finished / "runs" / name, "--source", source, "--reference", reference
        )
        figures = f"{found['bleu']:.2f}", f"{found['chrf']:.2f}"
        perplexity = json.loads((finished / "runs" / name / "run.json").read_text())["installed"][
            "perplexity"
        ]
        cells = re.search(rf"<b>{name}</b>.*", page)[0]
        assert all(f">{figure}<" in cells for figure in (*figures, f"{perplexity:.2f}"))
        assert (
            f"| {figures[0]} | {figures[1]} | {perplexity:.2f} |"
            in re.search(rf"\| {name}:.*", card)[0]
        )
    # The directory itself is a model: its search settings are those that were best.
    names = ["final", "forward-1", "search-1", "search-2"]
    best = max(
        json.loads((finished / "stages" / f"{name}.json").read_text())["scores"]["bleu"]
        for name in names
    )
    assert scores(capsys, finished, "--source", source, "--reference", reference)["bleu"] == best
    assert Translator.load(finished / "student").default_search.precision == "int8"


def test_a_finished_recipe_has_nothing_left_to_do(finished, monkeypatch, capsys):
    monkeypatch.setattr(running, "run_child", lambda *_: pytest.fail("a stage was done again"))
    before = {
        name: (finished / name).read_bytes() for name in (*MODELS, "README.md", "report.html")
    }
    assert dispatch(["best", str(finished)]) == 0
    assert "finished" in capsys.readouterr().err
    assert before == {name: (finished / name).read_bytes() for name in before}


def test_the_page_has_the_curves_of_the_trainings_and_loads_nothing(
    finished, tmp_path, monkeypatch
):
    out = tmp_path / "<out>"
    shutil.copytree(finished, out)
    monkeypatch.setattr(report, "find_spec", lambda name: True)
    assert dispatch(["best", str(out)]) == 0
    page = (out / "report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 1
    assert "&lt;out&gt;" in page
    assert "<out>" not in page
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|<script", page)


def test_a_dry_run_prints_the_plan_and_writes_nothing(corpus, tmp_path, capsys):
    out = tmp_path / "out"
    assert dispatch(["best", str(out), *corpus, *OPTIONS, "--dry-run"]) == 0
    plan = capsys.readouterr().out
    names = re.findall(r"^  (\S+) +\d+ ", plan.partition("stages")[2], re.MULTILINE)
    assert names[:3] == ["sweep-1", "sweep-2", "backward"]
    assert "final" in names
    assert "measures this machine anew" in plan
    assert not out.exists()


def test_a_stage_that_fails_ends_the_recipe_with_its_code(corpus, tmp_path, monkeypatch, capsys):
    def fail(arguments, output=None):
        return run_forked(arguments, output) if arguments[0] == "bench" else 143

    monkeypatch.setattr(running, "run_child", fail)
    out = tmp_path / "out"
    assert dispatch(["best", str(out), *corpus, *OPTIONS]) == 143
    assert f"headway best {out} goes on there" in capsys.readouterr().err
    assert not json.loads((out / "stages" / "sweep-1.json").read_text())["is_finished"]
    assert not list(out.rglob(".tmp-*"))


def test_a_plan_of_another_version_is_refused(finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished / "plan", out / "plan")
    plan = json.loads((out / "plan" / "plan.json").read_text())
    for changed, message in (
        ({"format": 15, "headway": "0.2.0"}, "format 15 of Headway 0.2.0"),
        ({"format": 99}, "format 99"),
        ({"options": {}}, r"plan\.json: damaged"),
    ):
        replace_text(out / "plan" / "plan.json", json.dumps(plan | changed))
        with pytest.raises(HeadwayError, match=message):
            dispatch(["best", str(out)])
    shutil.move(out / "plan" / "plan.json", out / "plan.json")  # where it was before
    shutil.rmtree(out / "plan")
    with pytest.raises(HeadwayError, match=r"holds plan\.json, but no plan of this version"):
        dispatch(["best", str(out), "--train", "a.en", "a.de", "--valid", "7"])


def test_the_function_does_what_the_command_does(finished, corpus, tmp_path, monkeypatch):
    settings = {
        name.removeprefix("--"): value
        for name, value in zip(OPTIONS[::2], OPTIONS[1::2], strict=True)
    }
    files = [Path(word) for word in corpus if not word.startswith("--")]
    with pytest.raises(UsageError, match="--hours 0"):
        headway.best(tmp_path / "out", files[:2], files[2:], hours=0, settings=settings)
    with pytest.raises(UsageError, match="no plan there yet"):
        headway.best(tmp_path / "out")
    translator = headway.best(finished, files[:2], files[2:], settings=settings)
    assert translator.translate("1 2") == Translator.load(finished).translate("1 2")
    out = tmp_path / "other"
    monkeypatch.setattr(running, "_do", lambda *_: 3)
    with pytest.raises(HeadwayError, match="a stage has failed"):
        headway.best(out, files[:2], 7, without=["student"], settings=settings)
    plan = json.loads((out / "plan" / "plan.json").read_text())
    assert (plan["options"]["without"], plan["facts"]["validation"]) == (["student"], 7)
    process = fork(headway.best, finished)  # a process that multiprocessing has started
    process.join()
    assert process.exitcode


def test_parts_are_left_out_by_name(corpus, tmp_path, capsys):
    words = ["best", str(tmp_path / "out"), *corpus, *OPTIONS, "--dry-run", "--without"]
    dispatch([*words, "student", "back-translation"])
    less = capsys.readouterr().out
    assert not re.search(r"^  (student|distillation|backward)", less, re.MULTILINE)
    assert re.search(r"^  forward-translation-1", less, re.MULTILINE)
    assert "warning: 7 validation pairs decide" in less
    with pytest.raises(UsageError, match=r"--without studnt: no part .*did you mean 'student'"):
        dispatch([*words, "studnt"])


def test_changed_options_and_text_are_refused(finished, corpus):
    words = ["best", str(finished), *corpus, *OPTIONS]
    for change, message in (
        (["--hours", "3"], "planned with hours none, and this command has 3.0"),
        (["--model.dropout", "0.4"], "planned with settings .* this command has .*dropout': '0.4'"),
    ):
        with pytest.raises(UsageError, match=message):
            dispatch([*words, *change])
        with pytest.raises(UsageError):  # without the text, too
            dispatch(["best", str(finished), *change])
    file = Path(corpus[1])
    before = file.read_bytes()
    file.write_bytes(before.replace(b"1", b"2", 1))
    try:
        with pytest.raises(UsageError, match="has changed since"):
            dispatch(words)
    finally:
        file.write_bytes(before)


def test_one_process_works_in_a_directory(finished):
    with (
        DirectoryLock(finished),
        pytest.raises(HeadwayError, match="is at work here already"),
    ):
        dispatch(["best", str(finished)])
