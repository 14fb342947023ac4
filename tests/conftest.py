"""Fixtures of several packages: a model with random weights, a small corpus, and a finished run on it."""

import gc
import multiprocessing
import os
import platform
import signal
from functools import partial
from pathlib import Path

import pytest

# The tests are of processors, also on a machine with a GPU; benchmarks/gpu.py is for GPUs.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# Batches of the same small texts come again and again: compiled matrix products are kept for a whole session.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")
# The processors are shared by several processes, so that a thread that waits must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch

from headway.cli.main import dispatch
from headway.config import SearchConfig, TextConfig
from headway.ext.native.variants import list_variants, read_instruction_sets
from headway.text.tokenizer import Tokenizer
from headway.training import dry_run, run
from headway.translation import Translator
from support.runs import command, write_corpus
from support.toy_models import sentences, translate_words, write_random_model

# Nobody cuts the power here, and a disk takes milliseconds for each file that it must keep.
os.fsync = lambda descriptor: None
# A model that has hardly been trained ends no sentence: its validations would take half of the time of a training.
dry_run.SearchConfig = run.SearchConfig = partial(SearchConfig, max_extra=2)


SLOW = Path(__file__).with_name("slow.txt")


def pytest_addoption(parser):
    """Add an option that measures which tests are slow."""
    parser.addoption("--write-slow", action="store_true", help="write tests/slow.txt anew")


@pytest.hookimpl(tryfirst=True)  # before others choose by the mark
def pytest_collection_modifyitems(items):
    """Mark the tests and the files of tests that are in the list of slow ones."""
    slow = {*SLOW.read_text("utf-8").split()}
    for item in items:
        test = item.nodeid.partition("[")[0]
        if test in slow or test.partition("::")[0] in slow:
            item.add_marker("slow")


def pytest_collection_finish():
    """Let no garbage collection look through what has been imported and collected."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    """Say which versions and which native code ran: some tests are skipped without them."""
    if terminalreporter.config.getoption("write_slow"):
        reports = terminalreporter.stats.get("passed", ())
        slow = {each.nodeid.partition("[")[0] for each in reports if each.duration > 1 / 6}
        SLOW.write_text("".join(f"{test}\n" for test in sorted(slow)), "utf-8")
    [variant, *_] = list_variants(platform.machine(), read_instruction_sets())
    terminalreporter.write_line(
        f"PyTorch {torch.__version__}; this processor runs native code for {variant.name}"
    )


@pytest.fixture(autouse=True)
def _restore_process():
    """Restore torch's number of threads and the handler of SIGTERM, which commands set, and end forked processes.

    Python waits at its end for all that it has forked, also for those that a failed test has left.
    """
    threads, handler = torch.get_num_threads(), signal.getsignal(signal.SIGTERM)
    yield
    torch.set_num_threads(threads)
    signal.signal(signal.SIGTERM, handler)
    for child in multiprocessing.active_children():
        child.kill()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Arguments of `headway train` that name a small parallel corpus of digits."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), train=150, valid=7)


@pytest.fixture(scope="session")
def uninterrupted_run(corpus, tmp_path_factory):
    """The directory of a run that was trained to its end at once."""
    path = tmp_path_factory.mktemp("uninterrupted") / "run"
    threads = torch.get_num_threads()
    assert dispatch(command(path, corpus)) == 0
    torch.set_num_threads(threads)
    return path


@pytest.fixture(scope="session")
def tokenizer():
    pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
    return Tokenizer.learn(pairs, TextConfig(vocab_size=331))


@pytest.fixture(scope="session")
def model_directory(tokenizer, tmp_path_factory):
    """A translator from English to German with random weights."""
    return write_random_model(tmp_path_factory.mktemp("model"), tokenizer)


@pytest.fixture(scope="session")
def translator(model_directory):
    return Translator.load(model_directory)


@pytest.fixture(scope="session")
def backward_directory(tokenizer, tmp_path_factory):
    """A translator from German to English with random weights."""
    return write_random_model(tmp_path_factory.mktemp("backward"), tokenizer, ("de", "en"), seed=4)


@pytest.fixture(scope="session")
def pair(model_directory, backward_directory):
    """A translator that chooses among candidates by another one, which translates back."""
    return Translator.load(model_directory, backward=backward_directory)
