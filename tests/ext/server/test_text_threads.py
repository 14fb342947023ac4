"""Plain work on text ends when nobody wants it, and when it takes too long."""

import asyncio
import threading
import time

import pytest

from headway.ext.server.driver import run_jobs
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account, TextThreads


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


def run(work, count=1):
    async def main():
        threads = TextThreads(count)
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


def test_work_that_takes_more_than_its_account_is_rejected():
    async def work(threads):
        ends, account = [], Account(0.3)
        with pytest.raises(Rejection) as rejected:
            await threads.run(lambda: spin(ends), account)
        assert (rejected.value.status, len(ends)) == (413, 1)
        with pytest.raises(Rejection):  # nothing is left
            await threads.run(lambda: spin(ends), account)
        assert await threads.run(lambda: time.sleep(0.5), Account(0.3)) is None  # it took no time

    run(work)


def test_a_short_work_is_not_kept_waiting_by_long_ones():
    async def work(threads):
        ends = []
        long = [asyncio.ensure_future(threads.run(lambda: spin(ends), Account(60))) for _ in "ab"]
        await asyncio.sleep(0.05)
        started = time.monotonic()
        assert await threads.run(lambda: 5, Account()) == 5
        assert time.monotonic() - started < 0.5
        for each in long:
            each.cancel()
        await asyncio.gather(*long, return_exceptions=True)

    run(work, 3)


def test_what_work_raises_comes_to_the_caller():
    async def work(threads):
        def fail():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await threads.run(fail, Account())

    run(work)


def test_a_job_is_closed_when_its_work_is_interrupted():
    ends = []

    def job():
        spin(ends)
        yield []

    async def main():
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        running = asyncio.ensure_future(run_jobs([job()], queue, Account(60)))
        await asyncio.sleep(0.1)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await queue.close()

    asyncio.run(main())
    assert len(ends) == 1
