"""Trainings of the experiments run in the process of the test, or are copies of one that was trained before."""

import json
from dataclasses import replace

import pytest

from headway.config import from_dict
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.trial import read_trial, write_trial
from headway.ext.paper.running.trial_run import run_trial
from support.toy_scale import make_sizes_small


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    make_sizes_small(monkeypatch)


@pytest.fixture(autouse=True)
def _train_here(monkeypatch):
    """A worker would import torch for seconds before each training, and would know no patch of a test."""

    def run_in_turn(function, directories, processes):
        for directory in directories:
            function(directory)
            yield directory

    monkeypatch.setattr("headway.ext.paper.running.study.run_together", run_in_turn)


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A toy translator that was trained as in the paper, with the average of its checkpoints."""
    work = Study(tmp_path_factory.mktemp("trained"), "toy")
    [directory] = work.prepare_trials([PlannedTrial("base", work.published_base)])
    run_trial(directory)
    trial = read_trial(directory)
    assert trial is not None
    return trial


@pytest.fixture
def copied_trainings(trained, monkeypatch):
    """Each training gives the models and scores of one that was trained before, whatever its settings are."""
    sizes = {
        name: getattr(trained.config.model, name)
        for name in ("source_vocab_size", "target_vocab_size")
    }

    def copy(directory):
        spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
        config = from_dict(spec["settings"], where=str(directory))
        (directory / "model").symlink_to(trained.directory)
        if config.training.average > 1:
            (directory / "averaged").symlink_to(trained.averaged)
        write_trial(
            replace(
                trained, name=spec["name"], seed=config.training.seed, directory=directory / "model",
                config=replace(config, model=replace(config.model, **sizes)),
            )
        )  # fmt: skip

    monkeypatch.setattr("headway.ext.paper.running.study.run_trial", copy)
