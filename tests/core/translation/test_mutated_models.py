"""A small part of ``tests/outside/damaged_models.py``: randomly damaged models are rejected or work."""

import signal
from pathlib import Path

import pytest

from support.damaged_models import damaged, try_out


@pytest.mark.slow
def test_randomly_damaged_directories_are_rejected_or_work(
    model_directory: Path, tmp_path: Path
) -> None:
    cases = [damaged({"headway": model_directory}, tmp_path, seed) for seed in range(50)]
    assert [case for case in cases if not case[1].is_right] == []
    assert {outcome.what for _, outcome in cases} == {"refused", "accepted"}


def test_the_campaign_detects_errors_of_other_types(
    model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.damaged_models.load_model", lambda path: {}["missing"])
    found = try_out(model_directory)
    assert (found.what, found.is_right) == ("KeyError: 'missing'", False)
    assert signal.alarm(0) == 0
