"""One Translator gives the same texts alone, from eight threads at once, and after a fork."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from headway.config import SearchConfig
from support.toy_models import sentences

LINES = sentences(12, 9)
SEARCH = SearchConfig(max_extra=5)


def test_eight_threads_of_one_translator_get_the_texts_of_one(translator):
    alone = translator.translate(LINES, SEARCH)
    orders = [LINES[shift:] + LINES[:shift] for shift in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda lines: translator.translate(lines, SEARCH), orders))
    for shift, texts in enumerate(found):
        assert texts == alone[shift:] + alone[:shift]


FORK = """
import multiprocessing, sys, warnings

import torch

from headway.config import SearchConfig
from headway.translation import Translator

warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
model, *lines = sys.argv[1:]
search = SearchConfig(max_extra=5)


def fork(shared):
    receiver, sender = multiprocessing.Pipe(duplex=False)
    work = lambda: sender.send((torch.get_num_threads(), shared.translate(lines, search)))
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    try:
        assert receiver.poll(60), "the forked process hangs"
        threads, found = receiver.recv()
        assert found == alone
        assert threads == 1 or torch.get_num_threads() == 1, threads
    finally:
        process.kill()


for threads in (1, 4):
    torch.set_num_threads(threads)
    alone = Translator.load(model).translate(lines, search)
    shared = Translator.load(model)
    fork(shared)
    shared.translate(lines, search)
    fork(shared)
"""


def test_a_forked_process_gets_the_same_texts(model_directory):
    """Of a translator that was only loaded, and of a used one; a fork does not copy the threads of a process."""
    words = [sys.executable, "-c", FORK, str(model_directory), *LINES[:5]]
    done = subprocess.run(
        words, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
