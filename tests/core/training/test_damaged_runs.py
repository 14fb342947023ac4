"""If files of a run are damaged or of another run, a resume gives the same result, or one line that says why it cannot."""

import contextlib
import json
import multiprocessing
import os
import shutil
import time

import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.text.tokenizer import Tokenizer
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ProgressReport
from headway.translation.directory import load_model
from support.processes import fork
from support.runs import assert_equal_runs, metrics, opened, opening


@pytest.fixture
def runs(damaged_runs):
    return damaged_runs


@pytest.fixture
def path(runs, tmp_path):
    """A copy of the run that was stopped at step 10, with checkpoints of steps 0, 3, 6, 9 and 10."""
    return shutil.copytree(runs.stopped, tmp_path / "run")


def checkpoint(run, step=10):
    return run / "checkpoints" / f"step-{step:08d}"


def flip(file, at=-1):
    """Flip a bit of one byte of a file."""
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


def edit(file, **changes):
    """Change values of a JSON file; None removes them."""
    values = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({n: v for n, v in values.items() if v is not None}))


def put(source, target):
    """Put a copy of a directory in the place of another one."""
    shutil.rmtree(target)
    shutil.copytree(source, target)


def make_pipe(file):
    file.unlink()
    os.mkfifo(file)


def edit_training(run, **changes):
    values = json.loads((run / "config.json").read_text())
    values["settings"]["training"] |= changes
    (run / "config.json").write_text(json.dumps(values))


def change_a_score(run):
    """Change a bit of the vocabulary that leaves its subwords, but may divide text otherwise."""
    file = run / "data" / "tokenizer.model"
    model, subwords = file.read_bytes(), Tokenizer(file.read_bytes()).fingerprint
    for at in range(len(model) // 2, len(model)):
        changed = model[:at] + bytes([model[at] ^ 1]) + model[at + 1 :]
        with contextlib.suppress(RuntimeError, UnicodeDecodeError):
            if Tokenizer(changed).fingerprint == subwords:
                file.write_bytes(changed)
                return


def omit_a_digest(run):
    """Put an older optimizer into the newest checkpoint, and its line out of the list of digests."""
    name, sums = "optimizer.safetensors", checkpoint(run) / "SHA256SUMS"
    lines = sums.read_text().splitlines(keepends=True)
    sums.write_text("".join(line for line in lines if name not in line))
    shutil.copy(checkpoint(run, 9) / name, checkpoint(run) / name)


def add_directories(run):
    for name in ("step-00000099", "step-000000010", "step-00000012/state.json"):
        (run / "checkpoints" / name).mkdir(parents=True)


def lose_checkpoints(run):
    shutil.rmtree(run / "checkpoints")


def lose_checkpoints_and_metrics(run):
    lose_checkpoints(run)
    (run / "metrics.jsonl").unlink()


def lose_the_disk_of_checkpoints(run):
    lose_checkpoints(run)
    (run / "checkpoints").symlink_to("nowhere")


def damage_all_optimizers(run):
    for step in (9, 10):
        flip(checkpoint(run, step) / "optimizer.safetensors")


def lose_models(run):
    for folder in ("", "best/"):
        (run / f"{folder}model.safetensors").unlink()


def lose_logs(run):
    for name in ("metrics", "timings"):
        (run / f"{name}.jsonl").unlink()


GOES_BACK = "the run goes on from that of step 9"
EDITED = "config.json: changed since the run wrote it, and written again"
NO_WHOLE = "has no whole checkpoint .*: restore one, or delete checkpoints and metrics"
RECORD = r"run.json: (not the record of a run .* restore the file|damaged: not an object|format 2)"
# What is done to the stopped run (and with which other run); the step that it goes on from; what is said.
RESUMED = [
    (lambda run, _: flip(checkpoint(run) / "model.safetensors", 20), 9, ["model.safetensors", GOES_BACK]),
    (lambda run, _: (checkpoint(run) / "optimizer.safetensors").unlink(), 9, ["optimizer", GOES_BACK]),
    (lambda run, _: (checkpoint(run) / "SHA256SUMS").write_bytes(b""), 9, ["00010", GOES_BACK]),
    (lambda run, _: put(checkpoint(run, 6), checkpoint(run)), 9, ["not the state of step 10", GOES_BACK]),
    (lambda run, other: put(checkpoint(other), checkpoint(run)), 9, ["state.json: of another run", GOES_BACK]),
    (lambda run, _: omit_a_digest(run), 9, ["optimizer.safetensors: missing", GOES_BACK]),
    (lambda run, _: add_directories(run), 10, ["step-00000099/SHA256SUMS: miss", "step-00000012/SHA256SUMS: miss"]),
    (lambda run, _: flip(checkpoint(run, 6) / "model.safetensors"), 10, []),  # no average needs it
    (lambda run, _: lose_checkpoints_and_metrics(run), 0, []),
    (lambda run, _: lose_models(run), 10, ["run/model.safetensors: missing: the next", "best/model.safetensors: miss"]),
    (lambda run, _: lose_logs(run), 10, ["metrics.jsonl: missing: a new file begins", "timings.jsonl: missing: a new"]),
    (lambda run, _: edit_training(run, rate_scale=0.5), 10, [EDITED]),
    # As a resume with --training.max-steps leaves it, if it is killed before it writes config.json.
    (lambda run, _: edit_training(run, max_steps=16), 10, [EDITED]),
    (lambda run, _: (run / "config.json").write_text("["), 10, [EDITED]),
    (lambda run, _: (run / "config.json").unlink(), 10, []),
]  # fmt: skip
REFUSED = [
    (lambda run, _: damage_all_optimizers(run), f"optimizer.safetensors: changed .*|{NO_WHOLE}"),
    (lambda run, _: lose_checkpoints(run), NO_WHOLE),
    (lambda run, _: lose_the_disk_of_checkpoints(run), r"checkpoints: cannot be read \(No such file"),
    (lambda run, _: flip(run / "data/valid/source.ids"), "data/valid: source.ids, .* has changed"),
    (lambda run, _: flip(run / "metrics.jsonl", 20), r"metrics.jsonl: has .* or delete it"),
    (lambda run, _: flip(run / "metrics.jsonl"), r"metrics.jsonl: has .* or delete it"),
    (lambda run, _: (run / "run.json").write_text("[1]"), RECORD),
    (lambda run, _: (run / "run.json").write_text('{"format": 1}'), RECORD),
    (lambda run, _: edit(run / "run.json", processes=2), RECORD),
    (lambda run, _: edit(run / "run.json", files=3, sha256=None), RECORD),
    (lambda run, _: edit(run / "run.json", machine=[], sha256=None), RECORD),
    (lambda run, _: edit(run / "run.json", format=2), RECORD),
    (lambda run, _: (run / "run.json").unlink(), "run.json: missing, but there are checkpoints: restore the file"),
    (lambda run, _: flip(run / "data/valid.target", 1), r"the validation text \(valid.source, valid.target\) changed"),
    (lambda run, _: edit(run / "data/data.json", languages=["el", "de"]), "the languages in data.json changed"),
    (lambda run, _: edit(run / "data/data.json", origins=[{"name": "x"}]), "the origins in .* changed: .* restore"),
    (lambda run, _: make_pipe(run / "data/data.json"), "no data.json|data/data.json: damaged: not a file"),
    (lambda run, _: make_pipe(run / "data/train/corpus.json"), "data/train/corpus.json: damaged: not a file"),
    (lambda run, _: make_pipe(run / "data/valid.target"), "data/valid.target: not a file"),
    (lambda run, _: make_pipe(run / "metrics.jsonl"), "metrics.jsonl: not a file: restore it, or delete it"),
    (lambda run, _: make_pipe(run / "timings.jsonl"), "timings.jsonl: not a file: restore it, or delete it"),
    (lambda run, other: put(other / "data", run / "data"), r"data\), but .*the token ids \(train, valid\) changed"),
    (lambda run, _: change_a_score(run), r"data\), but the vocabulary \(\*.model\) changed"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "step", "said"), RESUMED)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_is_used(
    change, step, said, path, runs
):
    """Other damage is named, too, and what nothing needs is no matter; the end is that of an undisturbed run."""
    change(path, runs.others[1])
    run, notices = opening(path, ["train", str(path)])
    run.directory.unlock()
    assert run.step == step
    assert bool(notices) == bool(said), notices
    for words in said:
        assert any(words in notice for notice in notices), notices
    assert (path / "checkpoints" / "damaged-step-00000010").is_dir() == (step == 9)
    assert (path / "config.json").read_bytes() == (runs.whole / "config.json").read_bytes()
    assert dispatch(["train", str(path), "--quiet"]) == 0
    for name in ("model.safetensors", "optimizer.safetensors"):
        ends = [(checkpoint(each, 17) / name).read_bytes() for each in (path, runs.whole)]
        assert ends[0] == ends[1]
    for folder in ("", "best/"):
        load_model(path / folder)


def assert_refused(path, match):
    with pytest.raises(HeadwayError, match=match) as raised:
        dispatch(["train", str(path), "--quiet"])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_a_damaged_run_that_cannot_go_on_says_why_in_one_line(change, said, path, runs):
    change(path, runs.others[0])
    assert_refused(path, said)


def test_the_average_leaves_out_a_checkpoint_that_is_damaged_or_of_another_run(
    path, runs, tmp_path, capsys
):
    put(checkpoint(runs.others[0], 9), checkpoint(path, 9))
    with pytest.raises(HeadwayError, match=r"step-00000009/state.json: of another run"):
        dispatch(["average", str(path), str(tmp_path / "average")])
    assert_refused(path, r"step-00000009/state.json: of another run: delete \S+step-00000009, and")
    flip(checkpoint(path, 12) / "model.safetensors")
    shutil.rmtree(checkpoint(path, 9))
    assert_refused(path, r"step-00000012/model.safetensors: changed .*: delete \S+step-00000012,")
    shutil.rmtree(checkpoint(path, 12))
    assert dispatch(["train", str(path)]) == 0
    said = capsys.readouterr().err
    assert "missing: the average leaves step 12 out" in said
    assert metrics(path)[-1]["checkpoints"] == [6, 15, 17]


def test_averaging_rejects_changed_weights_and_leaves_step_0_out(path, tmp_path):
    assert checkpoint(path, 0).is_dir()
    for name, more, said in (
        ("all", [], "average of the checkpoints of steps 3, 6, 9, 10"),
        ("one", ["--last", "1"], "checkpoint of step 10"),
    ):
        assert dispatch(["average", str(path), str(tmp_path / name), *more]) == 0
        card = (tmp_path / name / "README.md").read_text()
        assert said in card
        assert ("average of" in card) == (name == "all")
    with pytest.raises(HeadwayError, match=r"--last 5: .* 4 checkpoints of trained weights"):
        dispatch(["average", str(path), str(tmp_path / "last"), "--last", "5"])
    flip(checkpoint(path, 9) / "model.safetensors")
    with pytest.raises(HeadwayError, match=r"step-00000009/model.safetensors: changed since"):
        dispatch(["average", str(path), str(tmp_path / "other")])


def test_a_damaged_model_is_named_and_a_copy_takes_its_place(path, runs):
    (path / "best" / "tokenizer.model").write_bytes(b"")
    flip(path / "best" / "model.safetensors")
    assert_refused(path, r"best/model.safetensors: changed since .*: restore it .*, or delete it")
    shutil.copy(path / "model.safetensors", path / "best")
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, runs.whole)


def test_models_of_a_finished_run_are_compared_and_its_settings_restored(runs, tmp_path):
    path = shutil.copytree(runs.whole, tmp_path / "run")
    older = min((path / "checkpoints").iterdir()) / "model.safetensors"
    shutil.copy(older, path / "best" / "model.safetensors")
    assert_refused(path, r"best/model.safetensors: changed since .*: restore it")
    shutil.copy(runs.whole / "best" / "model.safetensors", path / "best")
    (path / "model.safetensors").write_bytes(b"")
    assert_refused(path, r"run/model.safetensors: changed since .*: restore it .*, or delete it")
    (path / "model.safetensors").unlink()
    assert_refused(path, r"run/model.safetensors: missing: restore it .*, or train more steps")
    shutil.copy(runs.whole / "model.safetensors", path)
    for folder in ("", "best/", "averaged/"):
        (path / f"{folder}tokenizer.model").write_bytes(b"")
    (path / "best" / "config.json").unlink()
    assert dispatch(["train", str(path), "--quiet"]) == 0
    for name in ("tokenizer.model", "best/tokenizer.model", "best/config.json"):
        assert (path / name).read_bytes() == (runs.whole / name).read_bytes()


def test_the_lock_does_not_follow_a_link(path, tmp_path):
    (path / ".lock").unlink(missing_ok=True)
    (tmp_path / "precious").write_text("thesis")
    (path / ".lock").symlink_to(tmp_path / "precious")
    assert_refused(path, r"run/.lock: cannot be written")
    assert (tmp_path / "precious").read_text() == "thesis"


def test_one_process_trains_a_run_until_it_is_killed(path):
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def hold():
        directory = RunDirectory(path)
        directory.lock()
        sender.send("locked")
        time.sleep(60)

    holder = fork(hold)
    receiver.recv()
    assert_refused(path, f"process {holder.pid} is at work here already")
    holder.kill()
    holder.join()
    assert dispatch(["train", str(path), "--quiet"]) == 0


def test_all_files_of_a_run_have_the_permissions_of_new_files(path, tmp_path):
    (tmp_path / "new").touch()
    expected = (tmp_path / "new").stat().st_mode
    files = [file for file in path.rglob("*") if file.is_file()]
    assert [file.name for file in files if file.stat().st_mode != expected] == []


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
