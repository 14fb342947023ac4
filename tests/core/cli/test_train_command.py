"""``headway train`` and ``headway average`` as commands: signals, exit codes and messages."""

import json
import os
import runpy
import shutil
import signal
import sys
from pathlib import Path

import pytest
import torch

from headway.cli.display import Display
from headway.cli.main import dispatch, main
from headway.cli.signals import remember_signals
from headway.cli.verbs import train as verb
from headway.errors import HeadwayError
from headway.training.steps.trainer import StepReport
from headway.training.storage.checkpoint import read_tensors
from headway.training.storage.run_directory import RunDirectory
from headway.translation import Translator, load_model
from support.extensions import needs
from support.runs import assert_equal_runs, command, words


def test_a_signal_saves_and_ends_the_run(corpus, uninterrupted_run, tmp_path, monkeypatch):
    """One run, which is stopped by each signal in turn and resumed."""
    path, original = tmp_path / "run", Display.show
    stops = {7: signal.SIGTERM, 8: signal.SIGINT, 13: signal.SIGHUP}

    def show(self, event):
        original(self, event)
        if isinstance(event, StepReport) and event.step in stops:
            os.kill(os.getpid(), stops[event.step])

    monkeypatch.setattr(Display, "show", show)
    for step, code in ((7, 143), (8, 130), (13, 129)):
        before = signal.signal(stops[step], signal.default_int_handler)  # nohup may ignore it
        assert dispatch(command(path, corpus)) == code
        signal.signal(stops[step], before)
        assert RunDirectory(path).steps()[-1] == step
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, uninterrupted_run)


def test_a_signal_that_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with remember_signals() as received:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not received
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "headway: out of memory"),
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3 GiB"),
            "headway: out of memory",
        ),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: 3 bytes"),
            "headway: out of memory",
        ),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_running_out_of_memory_gives_a_message_of_one_line(error, said, monkeypatch, capsys):
    def run(args):
        raise error

    monkeypatch.setattr(verb, "run", run)
    with pytest.raises(SystemExit if said else RuntimeError):
        main(["train", "anywhere"])
    found = capsys.readouterr().err
    assert said is None or (said in found and found.count("\n") == 1)


@needs("quality")
def test_the_command_average_writes_the_average_that_training_writes(uninterrupted_run, tmp_path):
    out = tmp_path / "average"
    dispatch(["average", str(uninterrupted_run), str(out), "--last", "2"])
    # The calibration belongs to other weights than the average.
    assert (uninterrupted_run / "quality.json").is_file() > (out / "quality.json").exists()
    assert (out / "stand_ins.json").is_file()
    name = "model.safetensors"
    assert (out / name).read_bytes() == (uninterrupted_run / "averaged" / name).read_bytes()
    assert isinstance(Translator.load(out, "cpu").translate("1 2"), str)
    with pytest.raises(HeadwayError, match="exists already"):
        dispatch(["average", str(uninterrupted_run), str(out), "--checkpoints", "12"])
    shutil.rmtree(out)
    dispatch(["average", str(uninterrupted_run), str(out), "--checkpoints", "12"])
    single = uninterrupted_run / "checkpoints" / "step-00000012" / name
    assert torch.equal(
        load_model(out).transformer.source_embedding.weight,
        read_tensors(RunDirectory(uninterrupted_run).weights(12))["source_embedding.weight"],
    )
    assert single.exists()


def test_info_shows_how_far_a_run_is_and_which_weights_it_has(uninterrupted_run, capsys):
    dispatch(["info", str(uninterrupted_run), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["run"] == {"step": 17, "max_steps": 17, "finished": True}
    record = RunDirectory(uninterrupted_run).record()
    installed, pairs = record.installed, record.data.training_pairs
    validation = record.data.validation_pairs
    assert found["data"] == {"training_pairs": pairs, "validation_pairs": validation}
    assert found["installed weights"]["step"] == installed.step
    assert found["their validation scores"]["perplexity"] == pytest.approx(
        installed.perplexity, abs=1e-3
    )
    dispatch(["info", str(uninterrupted_run)])
    assert "step = 17, max_steps = 17, finished = true" in capsys.readouterr().out


def test_a_few_kills_of_the_crash_campaign_lose_nothing(monkeypatch, capsys):
    campaign = str(Path(__file__).parents[2] / "outside" / "crash.py")
    numbers = {"kills": 1, "signals": 1, "reads": 3, "patience": 20, "steps": 15}
    monkeypatch.setattr(sys, "argv", [campaign, *words(numbers)])
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the campaign adds
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(campaign, run_name="__main__")
    assert not ended.value.code, capsys.readouterr()
