"""A resume recognizes files of other runs, files that are too many, and checks that were removed."""

import json
import shutil

import pytest

from headway import train
from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.text.tokenizer import Tokenizer
from headway.training.storage.run_directory import RunDirectory
from support.runs import assert_equal_runs, metrics, opening

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(damaged_runs):
    return damaged_runs


@pytest.fixture
def path(runs, tmp_path):
    """A copy of the stopped run."""
    return shutil.copytree(runs.stopped, tmp_path / "run")


def checkpoint(path, step=10):
    return path / "checkpoints" / f"step-{step:08d}"


def edit(file, **changes):
    """Change values of a JSON file; None removes them."""
    values = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({n: v for n, v in values.items() if v is not None}))


def assert_resumes(path, step, *messages):
    """Check that a run goes on from a step, with these messages."""
    run, notices = opening(path, ["train", str(path)])
    run.directory.unlock()
    assert run.step == step
    said = "\n".join(notices)
    assert bool(said) == bool(messages), said
    for message in messages:
        assert message in said


def assert_refused(path, match):
    with pytest.raises(HeadwayError, match=match) as raised:
        dispatch(["train", str(path), "--quiet"])
    assert "\n" not in str(raised.value)


def test_a_checkpoint_of_another_run_is_recognized(path, runs):
    shutil.rmtree(checkpoint(path))
    shutil.copytree(checkpoint(runs.others[1]), checkpoint(path))
    said = "state.json: of another run: the checkpoint is damaged"
    assert_resumes(path, 9, said, "that of step 9")


def test_the_average_leaves_a_checkpoint_of_another_run_out(path, runs, tmp_path, capsys):
    shutil.rmtree(checkpoint(path, 9))
    shutil.copytree(checkpoint(runs.others[0], 9), checkpoint(path, 9))
    with pytest.raises(HeadwayError, match=r"step-00000009/state.json: of another run"):
        dispatch(["average", str(path), str(tmp_path / "average")])
    assert_refused(path, r"step-00000009/state.json: of another run: delete \S+step-00000009, and")
    shutil.rmtree(checkpoint(path, 9))
    assert dispatch(["train", str(path)]) == 0
    assert "missing: the average leaves step 9 out" in capsys.readouterr().err
    assert metrics(path)[-1]["checkpoints"] == [6, 12, 15, 17]


def test_data_of_another_run_of_the_same_size_is_recognized(path, runs):
    shutil.rmtree(path / "data")
    shutil.copytree(runs.others[0] / "data", path / "data")
    assert_refused(path, r"data\), but .*the token ids \(train, valid\) changed")


def test_a_file_that_the_list_of_digests_omits_is_not_trusted(path):
    name = "optimizer.safetensors"
    sums = checkpoint(path) / "SHA256SUMS"
    lines = sums.read_text().splitlines(keepends=True)
    sums.write_text("".join(line for line in lines if name not in line))
    shutil.copy(checkpoint(path, 9) / name, checkpoint(path) / name)
    assert_resumes(path, 9, f"step-00000010/{name}: changed since", "step 9")


def test_lost_checkpoints_are_named(path):
    shutil.rmtree(path / "checkpoints")
    assert_refused(
        path,
        r"checkpoints: has no whole checkpoint .*: restore one, or delete checkpoints and metr",
    )
    (path / "checkpoints").symlink_to("nowhere")
    assert_refused(path, r"checkpoints: cannot be read \(No such file or directory\)")
    (path / "checkpoints").unlink()
    (path / "metrics.jsonl").unlink()
    assert_resumes(path, 0)


def test_something_else_among_the_checkpoints_is_no_checkpoint(path):
    for name in ("step-00000099", "step-000000010", "step-00000012/state.json"):
        (path / "checkpoints" / name).mkdir(parents=True)
    said = [f"step-000000{step}/SHA256SUMS: missing" for step in (99, 12)]
    assert_resumes(path, 10, *said)


def test_a_lost_record_is_named(path):
    (path / "run.json").unlink()
    assert_refused(path, "run.json: missing, but there are checkpoints: restore the file")


def test_a_change_of_the_vocabulary_that_keeps_the_subwords_is_found(path):
    file = path / "data" / "tokenizer.model"
    model = bytearray(file.read_bytes())
    subwords = Tokenizer(bytes(model)).fingerprint
    at = next(  # a bit of a score: the same subwords, but text may be split otherwise
        at for at in range(len(model) // 2, len(model)) if _is_score(model, at, subwords)
    )
    model[at] ^= 1
    file.write_bytes(model)
    assert_refused(path, r"data\), but the vocabulary \(\*.model\) changed")


def _is_score(model, at, subwords):
    changed = bytearray(model)
    changed[at] ^= 1
    try:
        return Tokenizer(bytes(changed)).fingerprint == subwords
    except (RuntimeError, UnicodeDecodeError):
        return False


def test_facts_of_the_data_are_compared(path):
    edit(path / "data" / "data.json", origins=[{"name": "x"}])
    assert_refused(path, "the origins in data.json changed: .* restore what it was")


def test_an_older_model_of_the_same_run_is_recognized(runs, tmp_path):
    path = shutil.copytree(runs.whole, tmp_path / "run")
    older = min((path / "checkpoints").iterdir()) / "model.safetensors"
    shutil.copy(older, path / "best" / "model.safetensors")
    assert_refused(path, r"best/model.safetensors: changed since .*: restore it")


def test_a_finished_run_without_its_model_is_an_error(runs, tmp_path):
    path = shutil.copytree(runs.whole, tmp_path / "run")
    (path / "model.safetensors").write_bytes(b"")
    assert_refused(path, r"run/model.safetensors: changed since .*: restore it .*, or delete it")
    (path / "model.safetensors").unlink()
    assert_refused(path, r"run/model.safetensors: missing: restore it .*, or train more steps")


def test_vocabulary_and_settings_of_a_finished_run_are_restored(runs, tmp_path):
    path = shutil.copytree(runs.whole, tmp_path / "run")
    for folder in ("", "best/", "averaged/"):
        (path / f"{folder}tokenizer.model").write_bytes(b"")
    (path / "best" / "config.json").unlink()
    assert dispatch(["train", str(path), "--quiet"]) == 0
    for name in ("tokenizer.model", "best/tokenizer.model", "best/config.json"):
        assert (path / name).read_bytes() == (runs.whole / name).read_bytes()


def test_the_library_warns_of_a_damaged_checkpoint(path, runs):
    (checkpoint(path) / "state.json").unlink()
    with pytest.warns(UserWarning, match=r"state.json: missing: the checkpoint is damaged"):
        train(path)
    assert_equal_runs(path, runs.whole)


def test_a_setting_that_may_change_is_read_from_the_record(path, runs):
    # As a resume with --training.max-steps leaves it, if it is killed before it writes config.json.
    values = json.loads((path / "config.json").read_text())
    values["settings"]["training"]["max_steps"] = 16
    (path / "config.json").write_text(json.dumps(values))
    assert_resumes(path, 10, "config.json: changed since the run wrote it, and written again")
    assert (path / "config.json").read_bytes() == (runs.whole / "config.json").read_bytes()


def test_lost_logs_are_named(path, runs, capsys):
    (path / "metrics.jsonl").unlink()
    (path / "timings.jsonl").unlink()
    assert dispatch(["train", str(path)]) == 0
    said = capsys.readouterr().err
    for name in ("metrics", "timings"):
        assert f"{name}.jsonl: missing: a new file begins here" in said
    assert metrics(path) == metrics(runs.whole)[-len(metrics(path)) :]


def test_a_directory_named_data_that_headway_did_not_write_is_kept(path, runs, tmp_path):
    project = tmp_path / "project"
    (project / "data").mkdir(parents=True)
    (project / "data" / "thesis.tex").write_text("precious")
    with pytest.raises(HeadwayError, match="project: holds data, but no run"):
        RunDirectory(project).lock()
    assert (project / "data" / "thesis.tex").read_text() == "precious"


def test_the_lock_does_not_follow_a_link(path, tmp_path):
    (path / ".lock").unlink(missing_ok=True)
    (tmp_path / "precious").write_text("thesis")
    (path / ".lock").symlink_to(tmp_path / "precious")
    assert_refused(path, r"run/.lock: cannot be written")
    assert (tmp_path / "precious").read_text() == "thesis"


def test_all_files_of_a_run_have_the_permissions_of_new_files(path, tmp_path):
    (tmp_path / "new").touch()
    expected = (tmp_path / "new").stat().st_mode
    assert {
        file.name for file in path.rglob("*") if file.is_file() and file.stat().st_mode != expected
    } == set()
