"""One Translator gives the same texts alone, from eight threads at once, and after a fork."""

import multiprocessing
import warnings
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import pytest

from headway.inference import Translator
from support.toy_models import sentences

LINES = sentences(24, 9)


def send_translations(translator: Translator, connection: Connection) -> None:
    connection.send(translator.translate(LINES))


def test_eight_threads_of_one_translator_get_the_texts_of_one(translator: Translator) -> None:
    alone = translator.translate(LINES)
    orders = [LINES[shift:] + LINES[:shift] for shift in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(translator.translate, orders))
    for shift, texts in enumerate(found):
        assert texts == alone[shift:] + alone[:shift]


@pytest.mark.parametrize("is_used_before", [False, True])
def test_a_forked_process_gets_the_same_texts(
    model_directory, translator: Translator, is_used_before: bool
) -> None:
    alone = translator.translate(LINES)
    shared = Translator.load(model_directory)
    if is_used_before:
        shared.translate(LINES)
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=send_translations, args=(shared, sender)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        process.start()
    try:
        assert receiver.poll(60), "the forked process hangs"
        assert receiver.recv() == alone
    finally:
        process.kill()
        process.join()
