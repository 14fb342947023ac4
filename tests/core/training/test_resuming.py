"""A resumed run has the same result as one that was never interrupted, bit by bit."""

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.training import machine
from headway.training import run as run_module
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ProgressReport, ValidationReport
from headway.translation import load_model
from support.cases import each_case
from support.runs import assert_equal_runs, command, metrics, opened, opening


def test_a_run_killed_at_any_event_resumes_with_the_same_result(
    corpus, uninterrupted_run, tmp_path
):
    """At the last of the events of a kind between two checkpoints: most of the work is lost."""
    run = opened(tmp_path / "run", command(tmp_path / "run", corpus))
    copies = {}
    for event in run_to_end(run):
        torch.rand(7)  # the program around a run changes none of its random numbers
        kind, step = type(event).__name__, max(run.directory.steps(), default=0)
        copy = copies[kind, step] = tmp_path / f"{kind}-{step}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tmp_path / "run", copy)  # as a kill would leave it
    run.directory.unlock()
    assert_equal_runs(tmp_path / "run", uninterrupted_run)
    assert {step for _, step in copies} >= {3, 6, 9, 12, 15, 17}
    for moment in (("StepReport", 0), ("ValidationReport", 9), ("ProgressReport", 17)):
        assert dispatch(["train", str(copies[moment]), "--quiet"]) == 0
        assert_equal_runs(copies[moment], uninterrupted_run)


def test_a_run_that_the_caller_stops_is_saved_and_can_be_resumed(
    corpus, uninterrupted_run, tmp_path
):
    """Between two checkpoints, at one, and twice in a validation."""
    path = tmp_path / "run"
    for kind, step in (
        (StepReport, 7),
        (StepReport, 9),
        (ProgressReport, 10),
        (ValidationReport, 15),
    ):
        run = opened(path, command(path, corpus))
        with contextlib.closing(run_to_end(run)) as events:
            next(event for event in events if isinstance(event, kind) and run.step == step)
        run.directory.unlock()
        assert RunDirectory(path).steps()[-1] == step
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, uninterrupted_run)


def test_a_checkpoint_beside_the_series_saves_long_work(
    corpus, uninterrupted_run, tmp_path, monkeypatch
):
    assert run_module.MAX_UNSAVED_SECONDS <= 600  # the ten minutes of the pages
    monkeypatch.setattr(run_module, "MAX_UNSAVED_SECONDS", 0.0)
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    for event in run_to_end(run):
        if isinstance(event, StepReport) and event.step == 9:
            assert RunDirectory(path).steps() == [3, 6, 8]
            shutil.copytree(path, tmp_path / "killed")
    run.directory.unlock()
    assert_equal_runs(path, uninterrupted_run)
    monkeypatch.undo()
    assert dispatch(["train", str(tmp_path / "killed"), "--quiet"]) == 0
    assert_equal_runs(tmp_path / "killed", uninterrupted_run)


def test_resuming_a_finished_run_changes_nothing_and_prints_a_notice(
    uninterrupted_run, corpus, capsys
):
    before = {p: p.read_bytes() for p in uninterrupted_run.rglob("*") if p.is_file()}
    for arguments in (["train", str(uninterrupted_run)], command(uninterrupted_run, corpus)):
        assert dispatch(arguments) == 0
        assert "finished" in capsys.readouterr().err
    after = {p: p.read_bytes() for p in uninterrupted_run.rglob("*") if p.is_file()}
    assert {p.name for p in before if before[p] != after.get(p)} <= {".lock"}


def test_a_finished_run_takes_other_search_settings(uninterrupted_run, tmp_path, capsys):
    path = tmp_path / "run"
    shutil.copytree(uninterrupted_run, path)
    before = (path / "model.safetensors").read_bytes()
    assert dispatch(["train", str(path), "--search.beam", "7"]) == 0
    assert "config.json: search.beam is 7, not 4, from now on" in capsys.readouterr().err
    assert (path / "model.safetensors").read_bytes() == before
    for folder in (path, path / "best"):
        assert load_model(folder).config.search.beam == 7
    assert RunDirectory(path).record().settings.search.beam == 7
    assert dispatch(["train", str(path)]) == 0
    assert "search.beam" not in capsys.readouterr().err


def test_a_run_extended_by_steps_equals_a_longer_run(corpus, uninterrupted_run, tmp_path):
    longer, extended = tmp_path / "longer", tmp_path / "extended"
    assert dispatch(command(longer, corpus, training__max_steps=20)) == 0
    shutil.copytree(uninterrupted_run, extended)
    assert dispatch(["train", str(extended), "--quiet", "--training.max-steps", "20"]) == 0
    assert metrics(longer) == metrics(extended)
    name = "checkpoints/step-00000020/optimizer.safetensors"
    assert (longer / name).read_bytes() == (extended / name).read_bytes()
    with pytest.raises(HeadwayError, match=r"max_steps = 19: .* is at step 20"):
        dispatch(["train", str(extended), "--training.max-steps", "19"])


def test_another_schedule_of_validations_and_checkpoints_changes_no_weight(
    corpus, uninterrupted_run, tmp_path
):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 7)
    run.directory.unlock()
    more = ["--training.validate-every", "4", "--training.checkpoint-every", "5"]
    assert dispatch(["train", str(path), "--quiet", *more]) == 0
    assert [line["step"] for line in metrics(path) if line["event"] == "validation"] == [
        5, 8, 12, 16, 17, 17,
    ]  # fmt: skip
    assert {10, 15} <= {*RunDirectory(path).steps()}
    found, usual = (
        directory / "checkpoints" / "step-00000017" / "optimizer.safetensors"
        for directory in (path, uninterrupted_run)
    )
    assert found.read_bytes() == usual.read_bytes()


def test_an_extended_run_is_unfinished_until_its_last_step(uninterrupted_run, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(uninterrupted_run, path)
    sidecars = ("quality.json", "shortlist.safetensors", "stand_ins.json")
    for name in sidecars:
        (path / name).touch()
    record = RunDirectory(path).record()
    record.installed = replace(
        record.installed, bleu=-1.0
    )  # every model is better than this, so the next is installed
    RunDirectory(path).write_record(record)
    run = opened(path, ["train", str(path), "--training.max-steps", "20"])
    with contextlib.closing(run_to_end(run)) as events:
        for event in events:
            if isinstance(event, ValidationReport):
                break
    run.directory.unlock()
    record = RunDirectory(path).record()
    assert record.installed.step == 20
    assert not record.finished
    # What was learned from other weights is gone, and what was learned from the text is not.
    assert [name for name in sidecars if (path / name).exists()] == ["stand_ins.json"]


# Options of a resume with more steps, and why they are refused.


@each_case
def test_other_settings_or_data_are_rejected(change, message, uninterrupted_run, corpus):
    change = [corpus[-1] if word == "VALID" else word for word in change]
    words = ["train", str(uninterrupted_run), "--ranks", "1", "--training.max-steps", "23"]
    with pytest.raises(HeadwayError, match=message) as raised:
        dispatch([*words, *change])
    assert "\n" not in str(raised.value)
    # Data of another text would be no help.
    is_same_text = change[0].startswith("--training")
    assert ("need not be prepared again" in str(raised.value)) == is_same_text


def change_machine(record, **changes):
    return replace(record, machine=replace(record.machine, **changes))


def shard(record):
    training = replace(record.settings.training, shard=True)
    return replace(record, settings=replace(record.settings, training=training))


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        (lambda record: replace(record, torch="2.0.1"), [], f"torch was 2.0.1 and is now {torch.__version__}"),
        (lambda record: replace(record, native="another"), [], "the native code was another and is now "),
        (lambda record: change_machine(record, device="cuda"), ["--training.device", "cpu"], "the device was cuda and"),
        (shard, ["--training.shard", "false"], "training.shard was true and is now false"),
    ],
)  # fmt: skip
def test_another_pytorch_or_native_code_is_named_at_a_resume(
    change, more, said, uninterrupted_run, tmp_path
):
    """So are another device, and another division of the model."""
    path = shutil.copytree(uninterrupted_run, tmp_path / "run")
    directory = RunDirectory(path)
    directory.write_record(change(directory.record()))
    (path / "config.json").unlink()
    run, [notice] = opening(path, ["train", str(path), "--training.max-steps", "18", *more])
    run.directory.unlock()
    assert notice.startswith(said)
    assert notice.endswith(": the last bits of results may differ")
    assert run.machine.device == "cpu"


def test_other_columns_or_encodings_are_rejected(corpus, tmp_path):
    path, table = tmp_path / "run", tmp_path / "three.csv"
    source, target = (Path(corpus[at]).read_text(encoding="utf-8").splitlines() for at in (1, 2))
    rows = [f"{n},{a},{b}\n" for n, (a, b) in enumerate(zip(source, target, strict=True))]
    table.write_text("".join(rows), encoding="utf-8")
    text = ["--train", str(table), "--valid", "19", "--languages", "en", "de", "--columns"]
    assert dispatch(command(path, [*text, "2", "3"], training__max_steps=1)) == 0
    again = ["train", str(path), "--ranks", "1", "--quiet"]
    assert dispatch([*again, *text, "2", "3"]) == 0
    assert dispatch(again) == 0
    for change, message in (
        (["3", "2"], "--columns was 2 3, not 3 2"),
        (["2", "3", "--encoding", "cp1252"], "--encoding was not given, not cp1252"),
    ):
        with pytest.raises(HeadwayError, match=message):
            dispatch([*again, "--training.max-steps", "2", *text, *change])


def test_resuming_takes_the_cores_of_this_machine(uninterrupted_run, tmp_path, monkeypatch):
    path = tmp_path / "run"
    shutil.copytree(uninterrupted_run, path)
    monkeypatch.setattr(machine, "available_cores", lambda: 3)
    torch.set_num_threads(1)
    for threads, expected in (("0", 3), ("2", 2)):
        more = ["--training.max-steps", "18", "--training.threads", threads]
        run = opened(path, ["train", str(path), *more])
        run.directory.unlock()
        assert run.machine.threads == run.machine.threads_per_rank == expected
    assert torch.get_num_threads() == 1


def test_of_many_settings_that_differ_a_message_names_a_few(uninterrupted_run, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(uninterrupted_run, path)
    with pytest.raises(HeadwayError, match=r"; \d+ others differ, too: only ") as error:
        dispatch(["train", str(path), "--preset", "big", "--ranks", "1", "--quiet"])
    assert str(error.value).count("; ") == 6  # five differences, and what else may be done


def test_a_run_keeps_the_pairs_that_it_held_out(corpus, tmp_path):
    files = corpus[: corpus.index("--valid")]
    whole, path = tmp_path / "whole", tmp_path / "run"
    assert dispatch(command(whole, [*files, "--valid", "19"], training__max_steps=4)) == 0
    assert RunDirectory(whole).record().data.validation_pairs == 19
    start = command(path, [*files, "--valid", "19"], training__max_steps=3)
    assert dispatch(start) == 0
    with pytest.raises(HeadwayError, match="--valid was 19 pairs held out, not 23"):
        dispatch(["train", str(path), *files, "--valid", "23"])
    with pytest.raises(HeadwayError, match=r"--valid .*valid\.en .* is other text"):
        dispatch(["train", str(path), *corpus])
    more = ["--training.max-steps", "4", "--quiet"]
    assert dispatch(["train", str(path), *files, "--valid", "19", *more]) == 0
    assert_equal_runs(path, whole)
