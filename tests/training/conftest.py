"""A small corpus, a run of the smallest model on it, and threads that are reset after each test."""

import pytest
import torch

from headway.cli.main import dispatch
from support.runs import command, write_corpus


@pytest.fixture(autouse=True)
def _keep_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), train=150, valid=7)


@pytest.fixture(scope="session")
def undisturbed(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    threads = torch.get_num_threads()
    assert dispatch(command(path, corpus)) == 0
    torch.set_num_threads(threads)
    return path
