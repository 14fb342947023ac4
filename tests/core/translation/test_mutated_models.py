"""A small part of ``tests/outside/damaged_models.py``: randomly damaged models are rejected or work."""

import pytest

from support.damaged_models import damaged


@pytest.mark.slow
def test_randomly_damaged_directories_are_rejected_or_work(model_directory, tmp_path):
    cases = [damaged({"headway": model_directory}, tmp_path, seed) for seed in range(50)]
    assert [case for case in cases if not case[1].is_right] == []
    assert {outcome.what for _, outcome in cases} == {"refused", "accepted"}
