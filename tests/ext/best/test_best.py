"""``headway best``: kills, changed options, the plan, and the figures of the report."""

import json
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

import headway.ext.best.recipe_numbers
from headway.cli.main import dispatch, main
from headway.errors import HeadwayError, UsageError
from headway.ext.best import execution, report
from headway.ext.best.recipe_plan import RecipePlan
from headway.ext.best.stage import Command, Stage, StageResult
from headway.ext.best.stage_records import open_directory
from headway.ext.best.verbs import best
from headway.translation import Translator
from support.processes import fork
from support.recipes import MODELS, NUMBERS, OPTIONS, SCALE, run_forked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _small_recipe():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "run_child", run_forked)
        patch.setattr(headway.ext.best.recipe_numbers, "SCALES", (SCALE,))
        for name, value in NUMBERS.items():
            patch.setattr(headway.ext.best.recipe_numbers, name, value)
        patch.setattr(report, "find_spec", lambda name: None)  # curves take seconds
        yield


@pytest.fixture(scope="module")
def finished(corpus, uninterrupted_run, tmp_path_factory) -> Path:
    """The directory of a recipe that nothing interrupted.

    After a training and an evaluation here, forks have all modules.
    """
    out = tmp_path_factory.mktemp("best") / "out"
    text = ["--source", corpus[-2], "--reference", corpus[-1]]
    assert dispatch(["evaluate", str(uninterrupted_run), *text]) == 0
    assert dispatch(["best", str(out), *corpus, *OPTIONS]) == 0
    return out


def scores(capsys, *words: object) -> dict[str, float]:
    capsys.readouterr()
    dispatch(["evaluate", *map(str, words), "--json"])
    found = json.loads(capsys.readouterr().out)["scores"]
    return {name: found[name]["score"] for name in ("bleu", "chrf")}


def test_a_recipe_that_is_killed_again_and_again_ends_with_the_same_bits(
    finished, corpus, tmp_path
):
    """Before and after there is a plan, between two stages, and in trainings, which go on from a checkpoint."""
    out = tmp_path / "out"

    def saved(name: str) -> bool:
        return any((out / "runs" / name).glob("checkpoints/step-*"))

    started = time.monotonic()
    moments = (
        lambda: time.monotonic() > started + 0.1,
        lambda: (out / "plan.json").exists(),
        lambda: (out / "stages" / "sweep-1.json").exists(),
        lambda: saved("forward-1"),
        lambda: saved("student"),
        lambda: False,
    )
    for number, is_time in enumerate(moments):
        process = go_on(out, () if (out / "plan.json").exists() else (*corpus, *OPTIONS), is_time)
        if number == 2:  # as if it had been killed before it recorded what was finished
            (out / "stages" / "sweep-1.json").unlink()
        if number == 3:
            assert not (out / "stages" / "forward-1.json").exists()
            report = (out / "report.html").read_text()
            assert "<b>text</b>" in report
            assert "<b>forward-1</b>" not in report
    assert process.exitcode == 0
    for name in MODELS:
        assert (out / name).read_bytes() == (finished / name).read_bytes(), name
    for stage in (finished / "stages").iterdir():
        assert (out / "stages" / stage.name).exists()
    assert not list(out.rglob(".tmp-*"))


def go_on(out: Path, words: Sequence[str], is_time: Callable[[], bool]) -> BaseProcess:
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
    monkeypatch.setattr(execution, "run_child", lambda *_: pytest.fail("a stage was done again"))
    before = {
        name: (finished / name).read_bytes() for name in (*MODELS, "README.md", "report.html")
    }
    assert dispatch(["best", str(finished)]) == 0
    assert "finished" in capsys.readouterr().err
    assert before == {name: (finished / name).read_bytes() for name in before}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--hours", "3"], "planned with hours none, and this command has 3.0"),
        (["--model.dropout", "0.4"], "planned with settings .* and this command has .*dropout 0.4"),
    ],
)
def test_changed_options_are_refused(change, message, finished, corpus):
    with pytest.raises(UsageError, match=message):
        dispatch(["best", str(finished), *corpus, *OPTIONS, *change])
    with pytest.raises(UsageError):  # without the text, too
        dispatch(["best", str(finished), *change])


def test_the_page_has_the_curves_of_the_trainings_and_loads_nothing(finished, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(report, "find_spec", lambda name: True)
    plan = RecipePlan.read(finished)
    stage = Stage(name="final", part="translations", purpose="", run=finished / "runs" / "final")
    page = report.to_html(plan, [(stage, StageResult(seconds=1.0))], "<out>", with_curves=True)
    assert page.count("data:image/svg+xml;base64,") == 1
    assert "&lt;out&gt;" in page
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|<script", page)


def test_changed_text_is_refused(finished, corpus):
    file = Path(corpus[1])
    before = file.read_bytes()
    file.write_bytes(before.replace(b"1", b"2", 1))
    try:
        with pytest.raises(UsageError, match="has changed since"):
            dispatch(["best", str(finished), *corpus, *OPTIONS])
    finally:
        file.write_bytes(before)


def test_changed_text_is_not_imported(corpus, tmp_path):
    """Without options too: an interrupted recipe reads the text when it goes on."""
    text = [shutil.copy(file, tmp_path) for file in corpus if not file.startswith("--")]
    words = ["--train", *text[:2], "--valid", *text[2:]]
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "_do", lambda *_: 1)
        assert dispatch(["best", str(out), *words, *OPTIONS]) == 1
    Path(text[0]).write_text("Something else.\n")
    with pytest.raises(UsageError, match=rf"{text[0]}: has changed since"):
        dispatch(["best", str(out)])


def test_a_dry_run_prints_the_plan_and_writes_nothing(corpus, tmp_path, capsys):
    out = tmp_path / "out"
    assert dispatch(["best", str(out), *corpus, *OPTIONS, "--dry-run"]) == 0
    plan = capsys.readouterr().out
    names = re.findall(r"^  (\S+) +\d+ ", plan, re.MULTILINE)
    assert names[:4] == ["text", "sweep-1", "sweep-2", "backward"]
    assert "final" in names
    assert "measures this machine anew" in plan
    assert not out.exists()


def test_the_plan_of_a_stopped_recipe_says_what_is_done_and_how_long_the_rest_takes(
    finished, tmp_path, capsys
):
    dispatch(["best", str(finished), "--dry-run"])
    whole = capsys.readouterr().out
    assert not re.findall(r"^  \S+ +\d+ ", whole, re.MULTILINE)
    assert "measures this machine anew" not in whole
    listed = re.findall(r"^  (\S+) +done ", whole, re.MULTILINE)
    assert sorted(listed) == sorted(file.stem for file in (finished / "stages").glob("*.json"))
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    for name in ("final", "install", "student"):
        later = [f for f in (out / "stages").glob("*.json") if f.stem.startswith(name)]
        for file in [*later, *(out / "stages").glob("search-*.json")]:
            file.unlink()
    dispatch(["best", str(out), "--dry-run"])
    plan = capsys.readouterr().out
    assert re.search(r"^  backward +done ", plan, re.MULTILINE)
    assert re.search(r"^  final +\d+ ", plan, re.MULTILINE)
    total = re.search(r"(\d+) stages, (\d+) of them done, about (.+) on this machine", plan)
    times = re.findall(r"^  \S+ +(\d.*?)  ", plan, re.MULTILINE)
    assert len(times) == int(total[1]) - int(total[2])
    assert sum(map(seconds, times)) == pytest.approx(seconds(total[3]), abs=30 + len(times))


def seconds(duration: str) -> int:
    """Read "1 h 5 min", "5 min" or "5 s"."""
    units = {"h": 3600, "min": 60, "s": 1}
    return sum(int(n) * units[unit] for n, unit in re.findall(r"(\d+) (\w+)", duration))


def test_few_hours_leave_parts_out_and_say_so(corpus, tmp_path, capsys):
    words = ["best", str(tmp_path / "out"), *corpus, *OPTIONS, "--dry-run", "--hours"]
    dispatch([*words, "0.04"])
    some = capsys.readouterr().out
    assert "the sweep: with it" in some
    assert "final" in some
    dispatch([*words, "0.004"])
    fixed = capsys.readouterr().out
    assert "final" not in fixed
    assert (
        "more than the 0.004 hours: the trainings have the steps of --training.max-steps" in fixed
    )
    assert "of the steps of each training" not in fixed
    at = words.index("--training.max-steps")
    del words[at : at + 2]
    dispatch([*words, "0.004"])
    few = capsys.readouterr().out
    assert "more than the 0.004 hours: the trainings are not shortened further" in few
    assert "98 % of the steps of each training" in few
    assert "warning: 7 validation pairs decide" in few
    wanted = re.search(r"warning: trainings have 2 % of the usual steps.*--hours ([\d.]+) or", few)
    dispatch([*words, wanted[1]])
    assert "of the usual steps" not in capsys.readouterr().out


def test_a_stage_that_fails_ends_the_recipe_with_its_code(corpus, tmp_path, monkeypatch, capsys):
    def fail(arguments, output=None):
        return run_forked(arguments, output) if arguments[0] == "bench" else 143

    monkeypatch.setattr(execution, "run_child", fail)
    out = tmp_path / "out"
    assert dispatch(["best", str(out), *corpus, *OPTIONS]) == 143
    assert f"headway best {out} goes on there" in capsys.readouterr().err
    assert not json.loads((out / "stages" / "sweep-1.json").read_text())["is_finished"]


def test_a_plan_that_another_process_has_made_meanwhile_must_be_of_the_same_options(
    corpus, tmp_path, monkeypatch, capsys
):
    out, find = tmp_path / "out", best.find_plan

    def find_late(*args):
        plan = find(*args)
        out.mkdir()
        replace(plan, options=replace(plan.options, hours=1.0)).write(out)
        return plan

    monkeypatch.setattr(best, "find_plan", find_late)
    with pytest.raises(UsageError, match="planned with hours 1"):
        dispatch(["best", str(out), *corpus, *OPTIONS])


def test_text_of_the_user_in_the_directory_is_never_overwritten(corpus, tmp_path):
    """Also where it has the names of the recipe's own files."""
    (tmp_path / "text").mkdir()
    own = [
        str(shutil.copy(corpus[n], tmp_path / "text" / f"train.{code}"))
        for n, code in ((1, "en"), (2, "de"))
    ]
    before = [Path(file).read_bytes() for file in own]
    with pytest.raises(HeadwayError, match=r"holds text, but no plan\.json: give another OUT"):
        dispatch(["best", str(tmp_path), "--train", *own, "--valid", *corpus[-2:], *OPTIONS])
    assert [Path(file).read_bytes() for file in own] == before


def test_a_corpus_may_be_named_as_test_text(corpus, tmp_path, monkeypatch):
    asked: list[str] = []

    def find(words, languages, place, notify):
        asked.append(f"{place}: {' '.join(words)}")
        return corpus[-2:] if words == ["sacrebleu:wmt14"] else [Path(word) for word in words]

    monkeypatch.setattr("headway.ext.corpora.named.local_files", find)
    words = ["--valid", "7", "--test", "sacrebleu:wmt14", "--dry-run"]
    assert dispatch(["best", str(tmp_path / "out"), *corpus[:3], *words, *OPTIONS]) == 0
    assert "test: sacrebleu:wmt14" in asked


def test_a_plan_can_be_carried_out_from_another_directory(corpus, tmp_path, monkeypatch):
    folder = tmp_path / "texts"
    folder.mkdir()
    names = [Path(shutil.copy(file, folder)).name for file in corpus if not file.startswith("--")]
    words = ["--train", *names[:2], "--valid", *names[2:], *OPTIONS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "_do", lambda *_: 1)
        patch.chdir(folder)
        assert dispatch(["best", "../out", *words]) == 1
        assert dispatch(["best", "../out", *(w.replace("train.", "./train.") for w in words)]) == 1
        patch.chdir(tmp_path)
        assert dispatch(["best", "out"]) == 1


def test_one_process_works_in_a_directory(finished):
    process = fork(hold, finished)
    try:
        assert any((finished / ".held").exists() or time.sleep(0.02) for _ in range(500))
        with pytest.raises(HeadwayError, match="is at work here already"):
            dispatch(["best", str(finished)])
    finally:
        process.kill()
        process.join()
        (finished / ".held").unlink()


def hold(out: Path) -> None:
    with open_directory(out):
        (out / ".held").touch()
        time.sleep(60)


def test_every_command_has_the_threads_and_ranks_that_were_asked_for(tmp_path, monkeypatch):
    given: list[list[str]] = []

    def run_child(words: list[str], output: Path | None = None) -> int:
        given.append(words)
        if output:
            output.touch()
        return 0

    monkeypatch.setattr(execution, "run_child", run_child)
    for ranks, threads in ((2, 3), (0, 0)):
        for verb in ("train", "bench", "translate", "evaluate"):
            output = tmp_path / "scores" / "x.json" if verb == "evaluate" else None
            assert (
                execution.Processors(ranks, threads).run(
                    Command(arguments=[verb, "x"], output=output)
                )
                == 0
            )
    assert given == [
        ["train", "x", "--ranks", "2", "--training.threads", "3"],
        ["bench", "x", "--ranks", "2", "--threads", "3"],
        ["translate", "x", "--threads", "3"],
        ["evaluate", "x", "--threads", "3"],
        *([verb, "x"] for verb in ("train", "bench", "translate", "evaluate")),
    ]
