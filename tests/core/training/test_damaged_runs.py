"""If files of a run are damaged, a resume gives the same result, or one line that says why it cannot."""

import contextlib
import json
import os
import shutil

import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ProgressReport
from headway.translation.directory import load_model
from support.runs import assert_equal_runs, command, metrics, opened, opening

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stopped_run(corpus, tmp_path_factory):
    """A run of 17 steps that was stopped at step 10, with checkpoints of steps 6, 9 and 10."""
    path = tmp_path_factory.mktemp("stopped") / "run"
    run = opened(path, command(path, corpus))
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 10)
    run.directory.unlock()
    assert RunDirectory(path).steps() == [6, 9, 10]
    return path


@pytest.fixture
def path(stopped_run, tmp_path):
    """A copy of the stopped run."""
    return shutil.copytree(stopped_run, tmp_path / "run")


def flip(file, at=-1, bits=1):
    """Flip bits of one byte of a file."""
    content = bytearray(file.read_bytes())
    content[at] ^= bits
    file.write_bytes(content)


def checkpoint_file(path, step, name):
    return path / "checkpoints" / f"step-{step:08d}" / name


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model.safetensors", "flipped"),
        ("optimizer.safetensors", "missing"),
        ("SHA256SUMS", "empty"),
    ],
)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_is_used(
    name, damage, path, uninterrupted_run
):
    file = checkpoint_file(path, 10, name)
    if damage == "flipped":
        flip(file, at=20)
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        file.unlink()
    run, [message] = opening(path, ["train", str(path)])
    assert f"step-00000010/{name if name != 'SHA256SUMS' else ''}" in message
    assert "the run goes on from that of step 9" in message
    assert run.step == 9
    assert (path / "checkpoints" / "damaged-step-00000010").is_dir()
    if damage == "flipped":
        for _ in run_to_end(run):
            pass
        assert_equal_runs(path, uninterrupted_run)
    run.directory.unlock()


def test_a_run_that_averages_nothing_keeps_a_checkpoint_for_the_case_of_damage(
    corpus, tmp_path, capsys
):
    path, whole = tmp_path / "run", tmp_path / "whole"
    settings = {
        "training__average": 1, "training__validate_every": 20, "training__checkpoint_every": 1
    }  # fmt: skip
    assert dispatch(command(whole, corpus, **settings, training__max_steps=4)) == 0
    assert dispatch(command(path, corpus, **settings, training__max_steps=3)) == 0
    flip(checkpoint_file(path, 3, "optimizer.safetensors"))
    capsys.readouterr()
    assert dispatch(["train", str(path), "--training.max-steps", "4", "--ranks", "1"]) == 0
    assert (
        "the checkpoint is damaged, and the run goes on from that of step 2"
        in capsys.readouterr().err
    )
    name = "optimizer.safetensors"
    assert (
        checkpoint_file(path, 4, name).read_bytes() == checkpoint_file(whole, 4, name).read_bytes()
    )


def test_checkpoints_in_each_others_place_are_damaged(path, uninterrupted_run, capsys):
    shutil.rmtree(path / "checkpoints" / "step-00000010")
    shutil.copytree(path / "checkpoints" / "step-00000006", path / "checkpoints" / "step-00000010")
    assert dispatch(["train", str(path)]) == 0
    assert "step-00000010/state.json: not the state of step 10" in capsys.readouterr().err
    assert_equal_runs(path, uninterrupted_run)


def test_without_a_whole_checkpoint_the_message_says_what_to_do(path):
    assert not checkpoint_file(path, 6, "optimizer.safetensors").exists()
    for step in (9, 10):
        flip(checkpoint_file(path, step, "optimizer.safetensors"))
    assert_one_line(path, r"optimizer.safetensors: changed .* delete checkpoints and metrics")


@pytest.mark.slow
def test_a_run_that_may_end_early_averages_no_damaged_checkpoint(corpus, tmp_path, capsys):
    path, patience = tmp_path / "run", {"training__patience": 2, "training__average": 4}
    slow = {"training__rate_scale": 1e-12, "training__max_steps": 1000}
    run = opened(path, command(path, corpus, **patience, **slow))
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 10)
    run.directory.unlock()
    flip(checkpoint_file(path, 6, "model.safetensors"))
    assert_one_line(path, r"step-00000006/model.safetensors: changed .*: delete \S+step-00000006,")
    shutil.rmtree(path / "checkpoints" / "step-00000006")
    assert dispatch(["train", str(path)]) == 0
    assert "missing: the average leaves step 6 out" in capsys.readouterr().err
    averaged = metrics(path)[-1]["checkpoints"]
    assert 6 not in averaged
    assert len(averaged) > 1


def test_damage_of_a_checkpoint_that_nothing_needs_is_no_matter(path, uninterrupted_run, capsys):
    flip(checkpoint_file(path, 6, "model.safetensors"))  # the average is of 15 and 17
    assert dispatch(["train", str(path)]) == 0
    assert "step-00000006" not in capsys.readouterr().err
    assert_equal_runs(path, uninterrupted_run)


def test_a_flipped_bit_in_the_data_is_found(path):
    flip(path / "data" / "valid" / "source.ids")
    assert_one_line(path, "data/valid: source.ids, .* has changed")


def test_damaged_metrics_are_named_and_can_be_deleted(path, uninterrupted_run):
    file = path / "metrics.jsonl"
    whole = file.read_bytes()
    for changed in (whole[:-1], whole[:20] + bytes([whole[20] ^ 1]) + whole[21:]):
        file.write_bytes(changed)
        assert_one_line(path, r"metrics.jsonl: has .* or delete it")
    file.unlink()
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert metrics(path) == metrics(uninterrupted_run)[-len(metrics(path)) :]
    name = "model.safetensors"
    assert (path / name).read_bytes() == (uninterrupted_run / name).read_bytes()


def assert_one_line(path, match, *more):
    """Check that a resume is rejected in one line."""
    with pytest.raises(HeadwayError, match=match) as raised:
        dispatch(["train", str(path), "--quiet", *more])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("damage", ["edited", "[", None])
def test_settings_that_were_edited_in_the_run_are_named_and_written_again(
    damage, path, uninterrupted_run, capsys
):
    file = path / "config.json"
    values = json.loads(file.read_text())
    values["settings"]["training"]["rate_scale"] = 0.5
    file.write_text(damage if damage == "[" else json.dumps(values))
    if damage is None:
        file.unlink()
    # The same edit on the command line changes nothing.
    assert_one_line(path, "training.rate_scale is 1.0, not 0.5", "--training.rate-scale", "0.5")
    assert dispatch(["train", str(path)]) == 0
    is_named = f"{file}: changed since the run wrote it" in capsys.readouterr().err
    assert is_named == (damage is not None)
    assert_equal_runs(path, uninterrupted_run)
    assert file.read_bytes() == (uninterrupted_run / "config.json").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda values: {"format": 1},
        lambda values: [1],
        lambda values: values | {"processes": 2},
        lambda values: {**values, "files": 3, "sha256": None},
        lambda values: {n: v for n, v in values.items() if n != "sha256"} | {"machine": []},
        lambda values: values | {"format": 2},
    ],
)
def test_a_damaged_record_is_named(change, path):
    file = path / "run.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    assert_one_line(
        path,
        r"run.json: (not the record of a run .* restore the file|damaged: not an object|format 2)",
    )


def test_validation_text_and_languages_are_compared(path):
    flip(path / "data" / "valid.target", at=1)
    assert_one_line(path, r"the validation text \(valid.source, valid.target\) changed")
    flip(path / "data" / "valid.target", at=1)
    facts = (path / "data" / "data.json").read_text()
    (path / "data" / "data.json").write_text(facts.replace('"en"', '"el"'))
    assert_one_line(path, "the languages in data.json changed")


@pytest.mark.parametrize("name", ["data/data.json", "data/train/corpus.json"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(name, path):
    (path / name).unlink()
    os.mkfifo(path / name)
    assert_one_line(path, f"no data.json|{name}: damaged: not a file")


def test_a_damaged_model_is_named_and_a_copy_takes_its_place(path, uninterrupted_run):
    (path / "best" / "tokenizer.model").write_bytes(b"")
    flip(path / "best" / "model.safetensors")
    assert_one_line(path, r"best/model.safetensors: changed since .*: restore it .*, or delete it")
    shutil.copy(path / "model.safetensors", path / "best")
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, uninterrupted_run)


def test_without_its_models_a_run_goes_on_and_writes_others(path, capsys):
    for folder in ("", "best/"):
        (path / f"{folder}model.safetensors").unlink()
    assert dispatch(["train", str(path)]) == 0
    message = capsys.readouterr().err
    for folder in ("", "best/"):
        assert f"run/{folder}model.safetensors: missing: the next validation" in message
        load_model(path / folder)


def test_averaging_rejects_changed_weights_and_leaves_step_0_out(path, tmp_path):
    shutil.copytree(path / "checkpoints" / "step-00000006", path / "checkpoints" / "step-00000000")
    assert dispatch(["average", str(path), str(tmp_path / "all")]) == 0
    card = (tmp_path / "all" / "README.md").read_text()
    assert "average of the checkpoints of steps 6, 9, 10" in card
    assert dispatch(["average", str(path), str(tmp_path / "one"), "--last", "1"]) == 0
    card = (tmp_path / "one" / "README.md").read_text()
    assert "checkpoint of step 10" in card
    assert "average of" not in card
    with pytest.raises(HeadwayError, match=r"--last 4: .* 3 checkpoints of trained weights"):
        dispatch(["average", str(path), str(tmp_path / "last"), "--last", "4"])
    flip(checkpoint_file(path, 9, "model.safetensors"))
    with pytest.raises(HeadwayError, match=r"step-00000009/model.safetensors: changed since"):
        dispatch(["average", str(path), str(tmp_path / "other")])


@pytest.mark.parametrize(
    ("kind", "is_stopped"), [(StepReport, False), (StepReport, True), (ProgressReport, False)]
)
def test_a_run_directory_that_vanishes_ends_the_training(kind, is_stopped, path):
    run = opened(path, ["train", str(path)])
    events = run_to_end(run)
    next(event for event in events if isinstance(event, kind))
    shutil.rmtree(path)
    with pytest.raises(HeadwayError, match="removed while the run used it: the training") as raised:
        events.close() if is_stopped else list(events)
    assert "\n" not in str(raised.value)
    with contextlib.suppress(HeadwayError):
        events.close()
    run.directory.unlock()
    assert not path.exists()


def test_a_run_directory_that_another_replaces_is_not_written_to(path, tmp_path):
    place = shutil.copytree(path, tmp_path / "place")
    run = opened(place, ["train", str(place)])
    events = run_to_end(run)
    next(event for event in events if isinstance(event, StepReport))
    place.rename(tmp_path / "moved")
    path.rename(place)
    other = RunDirectory(place)
    other.lock()
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    for write in (run.save, lambda: run.directory.write_record(run.record)):
        with pytest.raises(HeadwayError, match="removed while the run used it: the training ends"):
            write()
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before
    with pytest.raises(HeadwayError):
        events.close()
    run.directory.unlock()
    other.unlock()


def test_a_randomly_damaged_run_gives_the_same_weights_or_a_message(damaged_runs):
    for number in range(3):
        case = damaged_runs.resume(number)
        assert case.is_right, (number, case.damage, case.outcome, case.log)
