"""One process trains a trial, with the code for which it was planned, and a result is read only whole."""

import json
import os
import sys
from dataclasses import replace

import pytest

from headway.errors import HeadwayError
from headway.ext.paper.rivals.classifying import train_classifier
from headway.ext.paper.rivals.rival_training import train_rival
from headway.ext.paper.running.planned_trial import RUNNER
from headway.ext.paper.running.sources import code_version
from headway.ext.paper.running.trial import Trial, read_trial, write_trial
from headway.ext.paper.running.trial_run import run_trial
from headway.locks import DirectoryLock
from headway.translation.directory import WEIGHTS
from support.toy_scale import TOY


def plan(directory, trainer=None, version=""):
    """Write a spec that needs no data."""
    spec = {
        "trainer": trainer, "modules": [RUNNER], "version": version or code_version(RUNNER),
    }  # fmt: skip
    directory.mkdir()
    (directory / "spec.json").write_text(json.dumps(spec))
    return directory


def finish(directory, **changes):
    trial = Trial("a", 1, directory / "model", 5, 3, ((1, 2.0),), {"bleu": 7.0}, 1.0, 2.0, TOY)
    write_trial(trial := replace(trial, **changes))
    return trial


def take_the_lock(directory):
    """A trainer; another process wants to train the same, which needs the lock."""
    DirectoryLock(directory).acquire()


def train_nothing(directory):
    finish(directory)


@pytest.mark.parametrize("trainer", [None, train_rival, train_classifier])
def test_changed_code_trains_nothing_that_other_code_has_planned(trainer, tmp_path):
    name = trainer and f"{trainer.__module__}:{trainer.__qualname__}"
    directory = plan(tmp_path / "a", name, version="another")
    with pytest.raises(HeadwayError, match=r"/a: Headway's code has changed since .* again$"):
        run_trial(directory)
    assert read_trial(directory) is None


def test_one_process_trains_a_trial_from_its_beginning_to_its_result(tmp_path):
    directory = plan(tmp_path / "a", f"{__name__}:take_the_lock")
    with pytest.raises(HeadwayError, match=f"process {os.getpid()} is at work here already"):
        run_trial(directory)
    (directory / "spec.json").unlink()
    lock = DirectoryLock(directory)
    lock.acquire()  # it is free after a failure
    with pytest.raises(HeadwayError, match="is at work here already"):
        run_trial(directory)
    lock.release()


def test_a_finished_trial_is_not_trained_again(tmp_path, monkeypatch):
    directory = plan(tmp_path / "a", f"{__name__}:train_nothing")
    run_trial(directory)
    assert read_trial(directory) is not None
    monkeypatch.setattr(sys.modules[__name__], "train_nothing", pytest.fail)
    run_trial(directory)


def test_a_trial_without_its_models_is_not_finished(tmp_path):
    rival = finish(tmp_path)
    assert read_trial(tmp_path) == rival  # a rival's model is not kept
    for name in ("model", "averaged"):
        (tmp_path / name).mkdir()
        (tmp_path / name / WEIGHTS).touch()
    trial = finish(tmp_path)
    assert read_trial(tmp_path) == trial
    for folder in (trial.directory, trial.averaged):
        (folder / WEIGHTS).unlink()
        assert read_trial(tmp_path) is None
        (folder / WEIGHTS).touch()
    trial.directory.rename(tmp_path / "elsewhere")
    assert read_trial(tmp_path) is None
