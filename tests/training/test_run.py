"""A run of the smallest model: the files it leaves, and the model it chooses."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.config import SearchConfig, TrainingConfig
from headway.errors import HeadwayError
from headway.ext.native.shortlist import Shortlist
from headway.ext.quality.quality_model import QualityModel
from headway.training.machine import Machine
from headway.training.run import run_to_end
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ProgressReport
from headway.translation import Translator, load_model
from support.runs import assert_equal_runs, command, metrics, opened, write_corpus


@pytest.mark.slow
def test_another_directory_and_hash_seed_give_the_same_run(corpus, uninterrupted_run, tmp_path):
    path = tmp_path / "another"
    words = [sys.executable, "-m", "headway", *command(path, corpus), "--ranks", "1"]
    subprocess.run(words, env=os.environ | {"PYTHONHASHSEED": "7"}, check=True)
    assert_equal_runs(path, uninterrupted_run)
    name = "tokenizer.model"
    assert (path / name).read_bytes() == (uninterrupted_run / name).read_bytes()


@pytest.mark.slow
def test_the_weights_of_a_run_directory_have_at_most_the_bytes_that_are_promised(corpus, tmp_path):
    path, most, average = tmp_path / "run", 0, 6
    changes = {"training__average": average, "training__checkpoint_every": 2}
    run = opened(path, command(path, corpus, **changes))
    for _ in run_to_end(run):
        files = [file.read_bytes() for file in path.rglob("*.safetensors")]
        headers = sum(8 + int.from_bytes(data[:8], "little") for data in files)
        most = max(most, sum(map(len, files)) - headers)
    run.directory.unlock()
    weights = sum(parameter.numel() for parameter in run.trainer.model.parameters())
    assert 12 * weights < most <= (4 * (average + 6) + 24) * weights  # docs/scaling.md


def test_a_run_directory_is_a_whole_model(uninterrupted_run, capsys):
    found = load_model(uninterrupted_run)
    assert found.languages == ("en", "de")
    assert isinstance(Translator.load(uninterrupted_run, "cpu").translate("1 2 3"), str)
    card = (uninterrupted_run / "README.md").read_text()
    facts = json.loads((uninterrupted_run / "run.json").read_text())
    assert facts["data"]["fingerprint"] in card
    assert "version:2" in card  # sacreBLEU's signature
    assert facts["machine"] == {
        **asdict(Machine.resolve(TrainingConfig(device="cpu"))),
        "threads": 1,
    }
    suffixes = {path.suffix for path in uninterrupted_run.rglob("*") if path.is_file()}
    assert not suffixes & {".pt", ".pth", ".bin", ".pkl"}
    assert capsys.readouterr().out == ""


def test_metrics_hold_every_step_and_validation_but_no_times(uninterrupted_run):
    lines = metrics(uninterrupted_run)
    steps = [line for line in lines if line["event"] == "step"]
    assert [line["step"] for line in steps] == list(range(1, 18))
    validations = [line for line in lines if line["event"] == "validation"]
    assert [(v["step"], v["averaged"]) for v in validations] == [
        (5, 1), (10, 1), (15, 1), (17, 1), (17, 2)
    ]  # fmt: skip
    assert {key for line in steps for key in line} == {
        "event", "step", "loss", "nll", "tokens", "gradient_norm", "rate", "skipped"
    }  # fmt: skip
    assert RunDirectory(uninterrupted_run).steps() == [12, 15, 17]


@pytest.mark.slow
def test_a_run_ends_although_no_validation_line_is_translated_as_one(tmp_path, capsys):
    """A line in several parts teaches nothing about the quality, so that there may be no line left."""
    corpus = write_corpus(tmp_path, train=60, valid=5)
    for name in ("valid.en", "valid.de"):
        lines = (tmp_path / name).read_text().splitlines()
        (tmp_path / name).write_text("".join(f"{' '.join([line] * 9)}\n" for line in lines))
    line = [*command(tmp_path / "run", corpus), "--search.max-tokens", "4"]
    line.remove("--quiet")
    assert dispatch(line) == 0
    assert "no quality.json" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["finished"]
    assert not (tmp_path / "run" / "quality.json").exists()


def test_the_best_model_is_installed(uninterrupted_run):
    validations = [line for line in metrics(uninterrupted_run) if line["event"] == "validation"]
    best = max(validations, key=lambda v: (v["bleu"], -v["perplexity"]))
    facts = json.loads((uninterrupted_run / "run.json").read_text())
    assert {key: best[key] for key in facts["installed"]} == facts["installed"]
    folder = "averaged" if best["averaged"] > 1 else "best"
    name = "model.safetensors"
    assert (uninterrupted_run / name).read_bytes() == (
        uninterrupted_run / folder / name
    ).read_bytes()


def test_a_run_calibrates_its_model_and_the_copies_of_it_at_its_end(uninterrupted_run):
    assert QualityModel.load(uninterrupted_run).sentences == 7  # of the validation text
    weights, quality = (
        {folder: (uninterrupted_run / folder / name) for folder in (".", "best", "averaged")}
        for name in ("model.safetensors", "quality.json")
    )
    for folder in ("best", "averaged"):
        if weights[folder].read_bytes() == weights["."].read_bytes():
            assert quality[folder].read_bytes() == quality["."].read_bytes()
        else:
            assert not quality[folder].exists()


@pytest.mark.slow
def test_a_shortlist_is_learned_at_the_end(corpus, uninterrupted_run, tmp_path):
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, search__shortlist=9)) == 0
    found = Shortlist.load(path, (331, 331))
    assert (found.candidates[:, 0] >= 0).sum() > 3
    for folder in ("best", "averaged"):  # if it holds the installed model
        is_installed = (path / folder / "model.safetensors").read_bytes() == (
            path / "model.safetensors"
        ).read_bytes()
        assert (path / folder / "shortlist.safetensors").is_file() == is_installed
    text = Path(corpus[1]).read_text().splitlines()[3]
    few, whole = Translator.load(path, "cpu"), Translator.load(uninterrupted_run, "cpu")
    ids = few.tokenizer.encode_source([text])
    listed = found.pick(ids[0], 9, [*ids[0], few.tokenizer.eos]).tolist()
    assert len(listed) < 331
    assert set(next(few.stream([text]))[0].tokens) <= set(few.tokenizer.target_subwords(listed))
    # A shortlist of the whole vocabulary is none; the message for a model without one says how to get one.
    assert few.translate(text, SearchConfig(shortlist=0)) == whole.translate(text)
    with pytest.raises(HeadwayError, match=r"train RUN --search\.shortlist N"):
        whole.translate(text, SearchConfig(shortlist=9))


@pytest.mark.slow
def test_a_run_that_is_stopped_while_it_learns_a_shortlist_learns_it_when_resumed(corpus, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, search__shortlist=9))
    with contextlib.closing(run_to_end(run)) as events:
        assert any(isinstance(e, ProgressReport) and "shortlist" in e.doing for e in events)
    run.directory.unlock()
    assert not (path / "shortlist.safetensors").exists()
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert (path / "shortlist.safetensors").exists()


def test_a_finished_run_learns_a_shortlist_when_resumed(
    corpus, uninterrupted_run, tmp_path, capsys
):
    path = tmp_path / "run"
    shutil.copytree(uninterrupted_run, path)
    before = (path / "model.safetensors").read_bytes()
    for said in ("shortlist.safetensors: learned", "finished"):
        assert dispatch(["train", str(path), "--search.shortlist", "9"]) == 0
        assert said in capsys.readouterr().err
    assert (path / "model.safetensors").read_bytes() == before
    assert (Shortlist.load(path, (331, 331)).candidates[:, 0] >= 0).sum() > 3


@pytest.mark.slow
def test_patience_ends_a_run_that_learns_nothing_and_the_command_names_it(corpus, tmp_path, capsys):
    path = tmp_path / "run"
    nothing = {"training__rate_scale": 1e-30, "training__patience": 2, "training__max_steps": 40}
    assert dispatch(command(path, corpus, **nothing)) == 0
    validated = [v["step"] for v in metrics(path) if v["event"] == "validation"]
    assert validated == [5, 10, 15, 15]  # the best, two that are no better, the average
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert [v["step"] for v in metrics(path) if v["event"] == "validation"] == validated
    assert "raise --training.patience, or set it to 0," in capsys.readouterr().err
    assert dispatch(["train", str(path), "--training.max-steps", "41"]) == 0
    assert "finished at step 15 by training.patience" in capsys.readouterr().err


@pytest.mark.slow
def test_tensorboard_gets_the_curves(corpus, uninterrupted_run, tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, training__tensorboard="true")) == 0
    assert_equal_runs(path, uninterrupted_run)
    events = reader.EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    losses = [(e.step, e.value) for e in events.Scalars("training/loss")]
    steps = [line for line in metrics(path) if line["event"] == "step"]
    assert losses == [(line["step"], pytest.approx(line["loss"])) for line in steps]
    assert [e.step for e in events.Scalars("validation/bleu")] == [5, 10, 15, 17]


@pytest.mark.slow
def test_a_clock_that_jumps_changes_nothing(corpus, uninterrupted_run, tmp_path, monkeypatch):
    jumps = itertools.cycle([0.0, 1e9, -1e9, 86_400.0])
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + next(jumps))
    assert dispatch(command(tmp_path / "run", corpus)) == 0
    assert_equal_runs(tmp_path / "run", uninterrupted_run)
