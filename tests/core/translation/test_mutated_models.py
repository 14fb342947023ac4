"""A small part of ``tests/outside/damaged_models.py``: randomly damaged models are rejected or work."""

import signal
from pathlib import Path

import pytest

from support.mutations import damaged, try_out


@pytest.mark.slow
def test_randomly_damaged_directories_are_rejected_or_work(
    model_directory: Path, tmp_path: Path
) -> None:
    outcomes = [damaged(model_directory, tmp_path, seed) for seed in range(50)]
    assert {outcome.what for _, outcome in outcomes} == {"refused", "translated"}
    assert max(outcome.seconds for _, outcome in outcomes) < 5
    assert max(outcome.megabytes for _, outcome in outcomes) < 200


def test_the_campaign_detects_errors_of_other_types(
    model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.mutations.load_model", lambda path: {}["missing"])
    assert try_out(model_directory).what == "KeyError: 'missing'"
    assert signal.alarm(0) == 0
