"""Fixtures of the tests of training."""

import multiprocessing
import tempfile
from pathlib import Path

import pytest

from support.damaged_resumption import DamagedRuns


@pytest.fixture
def forked_ranks(monkeypatch):
    """The command forks the ranks that it starts: they have all modules, and need not import them for seconds."""
    context = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: context)


@pytest.fixture(scope="session")
def damaged_runs():
    """A whole run, one stopped at step 10, and two stopped ones with other data or another seed."""
    # Not in a directory of pytest, which only its owner may read: some children give up the rights of root.
    with tempfile.TemporaryDirectory() as name:
        yield DamagedRuns(Path(name))
