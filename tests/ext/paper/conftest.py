"""Trainings of the experiments run in the process of the test."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _train_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker would import torch for seconds before each training, and would know no patch of a test."""

    def run_in_turn(
        function: Callable[[Path], None], directories: Sequence[Path], processes: int
    ) -> Iterator[Path]:
        for directory in directories:
            function(directory)
            yield directory

    monkeypatch.setattr("headway.ext.paper.running.work.run_together", run_in_turn)
