"""The server's driver closes the jobs of clients that leave, and gives the answers of the library."""

import asyncio
import random

import pytest

from headway.config import SearchConfig
from headway.ext.server.driver import run_jobs
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account
from headway.translation.requests import Find, run, together
from support.asked import count_up
from support.server import ask, client_of


def test_a_server_closes_a_job_whose_client_leaves():
    closed = []

    def inner():
        try:
            yield [Find(object(), SearchConfig(), [1])]
        finally:
            closed.append("inner")

    def outer():
        try:
            yield from together([inner(), inner()])
        finally:
            closed.append("outer")

    async def leave():
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        queue.idle_workers = 0  # nothing is answered
        task = asyncio.ensure_future(run_jobs([outer()], queue, Account()))
        while not queue.texts:
            await asyncio.sleep(0.001)
        assert (queue.texts, closed) == (1, [])
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (queue.texts, queue.waiting.groups) == (0, [])

    asyncio.run(leave())
    assert closed == ["inner", "inner", "outer"]


def test_both_drivers_answer_the_same():
    def jobs():
        return (count_up("", number % 4, []) for number in range(9))

    async def serve():
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        try:
            return await run_jobs(jobs(), queue, Account())
        finally:
            await queue.close()

    assert asyncio.run(serve()) == run(together(jobs()))


@pytest.mark.parametrize("form", ["text", "html"])
def test_no_more_is_cut_than_the_queue_may_hold(models, tokenized, form):
    """Whatever a text has much of, and wherever it stands: what would be rejected costs no more than what fits."""
    chooser = random.Random(form)
    with client_of(models, queue_tokens=400, batch_tokens=100) as client:
        for _ in range(10):
            unit = "".join(
                chooser.choice(["a house", "the cat", "A dog"])
                + chooser.choice([" ", ". ", "! ", ", "])
                for _ in range(chooser.randint(1, 4))
            )
            text = unit * (1_500 // len(unit))
            text = text if form == "text" else f"<p>{text}</p>"
            costs = []
            for count in (8, 64):
                tokenized.clear()
                answer = ask(client, q=[text] * count, format=form)
                assert answer.status_code == 400
                assert "exceeds text limit (400)" in answer.text
                costs.append(len(tokenized))
            assert costs[0] == costs[1], unit
