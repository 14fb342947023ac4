"""Plain work on text ends when nobody wants it, and when it takes too long."""

import asyncio
import random
import threading
import time

import pytest

from headway.ext.server.text_threads import LONG, Account, TextThreads
from support.server import ask, client_of, send_file

# An interruption may come in a callback of the garbage collector, from which nothing can be raised; it is repeated.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def spin(ends):
    """Work without an end, which lets no ordinary exception end it."""
    try:
        while True:
            try:
                sum(range(1_000))
            except Exception:
                continue
    finally:
        ends.append(threading.get_ident())


def run(work):
    async def main():
        threads = TextThreads()
        try:
            await work(threads)
        finally:
            await asyncio.to_thread(threads.close)

    asyncio.run(main())


def test_work_whose_client_leaves_is_interrupted_and_its_thread_works_on():
    async def work(threads):
        for _ in range(20):
            ends = []
            running = asyncio.ensure_future(threads.run(lambda e=ends: spin(e), Account(60)))
            waiting = asyncio.ensure_future(threads.run(lambda e=ends: spin(e), Account(60)))
            await asyncio.sleep(0.01)
            started = time.monotonic()
            waiting.cancel()
            running.cancel()
            for each in (running, waiting):
                with pytest.raises(asyncio.CancelledError):
                    await each
            assert time.monotonic() - started < 0.5
            assert len(ends) <= 1  # what waited has not begun
            assert await threads.run(lambda: 5, Account()) == 5

    run(work)


def test_short_texts_are_not_kept_waiting_by_long_ones_and_files():
    async def work(threads):
        ends = []
        accounts = [Account.for_characters(LONG, is_file=n % 2 == 1) for n in range(6)]
        long = [asyncio.ensure_future(threads.run(lambda: spin(ends), each)) for each in accounts]
        await asyncio.sleep(0.05)
        started = time.monotonic()
        assert await threads.run(lambda: 5, Account.for_characters(LONG - 1)) == 5
        assert time.monotonic() - started < 0.5
        for each in long:
            each.cancel()
        await asyncio.gather(*long, return_exceptions=True)

    run(work)


def test_the_shortest_text_is_next():
    async def work(threads):
        found, begins = [], threading.Event()
        sizes = random.Random(1).choices(range(LONG), k=99)
        first = asyncio.ensure_future(threads.run(begins.wait, Account()))
        others = [
            threads.run(lambda size=size: found.append(size), Account.for_characters(size))
            for size in sizes
        ]
        waiting = asyncio.gather(*others)
        await asyncio.sleep(0.05)
        begins.set()
        await asyncio.gather(first, waiting)
        assert found == sorted(sizes)

    run(work)


def test_a_search_for_terms_that_takes_too_long_is_rejected(models, monkeypatch):
    monkeypatch.setattr("headway.ext.server.text_threads.SECONDS", 0.2)
    rows = "\n".join(f"cat {n}\tK" for n in range(9_000))
    with client_of(models) as client:
        few = ask(client, q="the dog", glossary=rows)
        many = ask(client, q="cat " * 49, glossary=rows)
        file = send_file(client, "a.txt", b"cat " * 2_000, glossary=rows)
    assert (few.status_code, many.status_code, file.status_code) == (200, 413, 413)
    for answer in (many, file):
        assert answer.json()["error"].startswith("This takes too much work: send less text at once")
