"""The server's driver closes the jobs of clients that leave, and gives the answers of the library."""

import asyncio
from collections.abc import Iterator

from headway.config import SearchConfig
from headway.ext.server.driver import run_job
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account
from headway.translation.requests import Find, Job, run, together
from support.asked import count_up


def test_a_server_closes_a_job_whose_client_leaves() -> None:
    closed: list[str] = []

    def inner() -> Job[None]:
        try:
            yield [Find(object(), SearchConfig(), [1])]  # type: ignore[arg-type]
        finally:
            closed.append("inner")

    def outer() -> Job[None]:
        try:
            yield from together([inner(), inner()])
        finally:
            closed.append("outer")

    async def leave() -> None:
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        queue.idle_workers = 0  # nothing is answered
        task = asyncio.ensure_future(run_job(outer(), queue, Account()))
        while not queue.texts:
            await asyncio.sleep(0.001)
        assert (queue.texts, closed) == (1, [])
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (queue.texts, queue.waiting.groups) == (0, [])

    asyncio.run(leave())
    assert closed == ["inner", "inner", "outer"]


def test_both_drivers_answer_the_same() -> None:
    def jobs() -> Iterator[Job[list[int]]]:
        return (count_up("", number % 4, []) for number in range(9))

    async def serve() -> list[list[int]]:
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        try:
            return await run_job(together(jobs()), queue, Account())
        finally:
            await queue.close()

    assert asyncio.run(serve()) == run(together(jobs()))
