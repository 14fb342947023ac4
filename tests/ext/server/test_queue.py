"""The queue: which requests share batches, wait or are rejected, and what stops when clients leave."""

import asyncio
import random
import threading
import time
from dataclasses import replace
from functools import partial

import pytest
from starlette.testclient import TestClient

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.protect.glossary import Glossary
from headway.ext.server.answers import run_while_connected
from headway.ext.server.app import App
from headway.ext.server.driver import run_jobs
from headway.ext.server.jobs import Call
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import load_models
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account
from headway.translation.requests import Find
from support.bounds import grows_less
from support.cases import each_case
from support.pieces import cut
from support.pieces import find as find_pieces
from support.server import ask
from support.toy_models import sentences

SEARCH = SearchConfig()


class Model:
    """Returns each text unchanged; a step takes as long as the test wants."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds
        self.batches = []
        self.open = threading.Event()  # while it is not set, all batches stand still
        self.open.set()
        self.steps = 0
        self.factor, self.extra = 1, 0  # what a GPU's batch has more than a processor's

    def batch_limits(self, search, tokens):
        return self.factor * tokens, self.extra

    def search_batch(
        self,
        sources,
        prefixes,
        search,
        is_wanted,
        constraints,
    ):
        texts = ["".join(map(chr, ids)) for ids in sources]
        self.batches.append(texts)
        time.sleep(self.seconds)
        while not self.open.wait(0.001) and any(map(is_wanted, range(len(texts)))):
            self.steps += 1
        if "bad" in texts:
            raise HeadwayError("bad")
        return texts


def run(work, workers=1, **limits):
    async def main():
        queue = TranslationQueue(workers, ServerConfig(**limits), Metrics())
        await work(queue)
        await queue.close()
        assert queue.waiting.groups == []
        assert (queue.waiting.tokens, queue.running_tokens, queue.texts) == (0, 0, 0)
        assert queue.idle_workers == workers
        return queue

    return asyncio.run(main())


def find(queue, model, *texts, search=SEARCH):
    """Queue texts; a character counts as a token."""
    return asyncio.ensure_future(queue.ask(requests(model, *texts, search=search)))


def requests(model, *texts, search=SEARCH):
    """Ask for the translations of texts."""
    return [Find(model, search, [*map(ord, text)]) for text in texts]


async def until(holds):
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it does not happen")


async def stand_still(queue, model, text="first"):
    """Begin a batch that stands still until the model is open, so that what comes next has to wait."""
    model.open.clear()
    first = find(queue, model, text)
    await until(lambda: bool(model.batches))
    return first


@pytest.mark.parametrize(
    ("factor", "extra", "sizes"), [(1, 0, [1, 64, 35]), (3, 0, [1, 99]), (3, 57, [1, 95, 4])]
)
def test_a_gpu_takes_larger_batches(factor, extra, sizes):
    model = Model()
    model.factor, model.extra = factor, extra

    async def work(queue):
        first = await stand_still(queue, model, "abc")
        others = find(queue, model, *["abc"] * 99)
        await asyncio.sleep(0.01)
        model.open.set()
        await asyncio.gather(first, others)

    run(work, batch_tokens=1905)  # three times that is 95 times 60
    assert [len(batch) for batch in model.batches] == sizes


def test_batches_hold_like_lengths_models_and_settings():
    model, other = Model(), Model()

    async def work(queue):
        first = await stand_still(queue, model)
        lengths = [10, 90, 12, 80, 11, 85]
        found = [find(queue, model, "x" * length) for length in lengths]
        found += [find(queue, model, "beam", search=SearchConfig(beam=2))]
        found += [find(queue, other, "other")]
        await asyncio.sleep(0.01)
        model.open.set()
        await asyncio.gather(first, *found)

    run(work, batch_tokens=200)
    like = [sorted(map(len, batch)) for batch in model.batches]
    assert [10, 11, 12] in like
    assert {length for batch in like for length in batch if length > 50} == {80, 85, 90}
    assert all(max(batch) * len(batch) <= 200 for batch in like)
    assert ["beam"] in model.batches
    assert other.batches == [["other"]]


def test_requests_with_different_glossaries_share_a_batch(translator):
    """Each gets what it gets alone."""
    terms = [None, {"cat": "Quarkz"}, {"cat": "Hund"}, {"dog": "Quarkz"}]
    own = [translator.with_glossary(each and Glossary.of(each)) for each in terms]
    search = replace(translator.default_search, max_extra=9)
    pipelines = [each.pipeline(search) for each in own]
    pieces = [cut(each, "the cat sees a dog", search) for each in own]
    alone = [
        find_pieces(each, some, search)[0][0].tokens for each, some in zip(own, pieces, strict=True)
    ]
    assert len(set(map(tuple, alone))) >= 3  # an untrained model hardly looks at its source

    async def work(queue):
        is_open = threading.Event()
        first = asyncio.ensure_future(queue.ask([Call(is_open.wait, 1)]))
        await until(lambda: queue.idle_workers == 0)
        both = zip(pipelines, pieces, strict=True)
        found = [
            asyncio.ensure_future(run_jobs([pipeline.find(piece)], queue, Account()))
            for pipeline, [piece] in both
        ]
        await until(lambda: queue.texts == 1 + len(found))
        is_open.set()
        assert [each.hypotheses[0].tokens for [each] in await asyncio.gather(*found)] == alone
        await first
        # Of the wait and of the searches.
        assert queue.metrics.value("headway_batch_segments_count") == 2

    run(work)


def test_a_short_request_overtakes_the_rest_of_a_long_one():
    model = Model()

    async def work(queue):
        first = await stand_still(queue, model)
        queue.speed.tokens_per_second = 100.0  # the long one takes 20 seconds
        long = find(queue, model, *["x" * 50] * 40)
        await asyncio.sleep(0.01)
        short = find(queue, model, "y")
        await asyncio.sleep(0.01)
        with pytest.raises(Rejection):  # with half of the long one before it, 20 seconds, too
            await find(queue, model, *["z" * 50] * 20)
        model.open.set()
        await asyncio.gather(first, long, short)

    run(work, batch_tokens=100, queue_tokens=5_000)
    assert [i for i, batch in enumerate(model.batches) if "y" in batch] <= [2]


@each_case
def test_a_request_that_has_waited_long_goes_first(waited, speed, expected, monkeypatch):
    model = Model()

    async def work(queue):
        monkeypatch.setattr(queue.speed, "add_batch", lambda *_: None)
        first = await stand_still(queue, model)
        long = find(queue, model, *["x" * 50] * 40)
        short = find(queue, model, *"yyyy")
        await until(lambda: len(queue.waiting.groups) == 2)
        queue.waiting.groups[0].queued_at -= waited
        queue.speed.tokens_per_second = speed
        model.open.set()
        await asyncio.gather(first, long, short)

    run(work, batch_tokens=100, queue_tokens=5_000, deadline=30.0)
    assert model.batches[1][0][0] == expected


@pytest.mark.slow
def test_the_time_for_a_request_grows_with_its_length():
    def work(count):
        async def translate(queue):
            await find(queue, Model(), *["x"] * count)

        run(translate, queue_tokens=1_000_000)

    assert grows_less(work, 4_000, 8)


def test_each_text_counts_as_ten_tokens_at_least():
    chooser = random.Random(1)

    async def work(queue):
        for _ in range(50):
            texts = [
                "x" * chooser.choice((1, 9, 10, 11, 30)) for _ in range(chooser.randint(1, 20))
            ]
            size = sum(max(10, len(text)) for text in texts)
            if size <= 100:
                assert await find(queue, Model(), *texts) == texts
            else:
                with pytest.raises(Rejection, match=rf"\({size}\) exceeds text limit \(100\)"):
                    await find(queue, Model(), *texts)

    run(work, queue_tokens=100, batch_tokens=100)


def test_a_failing_text_fails_alone():
    model = Model()

    async def work(queue):
        model.open.clear()
        found = [find(queue, model, text) for text in ("first", "good", "bad", "fine")]
        await asyncio.sleep(0.01)
        model.open.set()
        answers = await asyncio.gather(*found, return_exceptions=True)
        failed = [isinstance(answer, HeadwayError) for answer in answers]
        assert failed == [False, False, True, False]
        assert answers[1] == ["good"]

    assert run(work).metrics.value("headway_cancelled_total") == 0


def test_cancelled_work_leaves_the_queue():
    model = Model()

    async def work(queue):
        running = await stand_still(queue, model)
        late = find(queue, model, "late", "later")
        await asyncio.sleep(0.01)
        late.cancel()
        await asyncio.sleep(0.01)
        assert queue.waiting.tokens == 0
        model.open.set()
        await running

    run(work)
    assert len(model.batches) == 1


def test_a_full_queue_rejects_at_once():
    model = Model()

    async def work(queue):
        model.open.clear()
        found = [find(queue, model, "x" * 10) for _ in range(11)]
        await asyncio.sleep(0.02)
        started = time.perf_counter()
        with pytest.raises(Rejection) as caught:
            await asyncio.wait_for(find(queue, model, "x"), 5)
        assert time.perf_counter() - started < 1  # the model still holds all others
        assert caught.value.status == 429
        assert int(caught.value.headers["Retry-After"]) >= 1
        with pytest.raises(Rejection) as caught:
            await find(queue, model, "x" * 101)
        assert caught.value.status == 400  # it would never fit: no use in coming again
        begun = queue.ask([Call(lambda: 5, 10)], is_admitted=True)  # which is not rejected halfway
        found.append(asyncio.ensure_future(begun))
        await asyncio.sleep(0.01)
        model.open.set()
        assert (await asyncio.gather(*found))[-1] == [5]
        assert await find(queue, model, "x" * 100) == ["x" * 100]
        queue.speed.tokens_per_second = 20.0  # tokens a second
        model.open.clear()
        some = [find(queue, model, "x" * 10) for _ in range(3)]
        await asyncio.sleep(0.02)
        with pytest.raises(Rejection) as caught:  # 40 tokens at twenty a second: too late
            await asyncio.wait_for(find(queue, model, "x" * 10), 5)
        assert caught.value.headers["Retry-After"] == "2"
        model.open.set()
        await asyncio.gather(*some)

    run(work, queue_tokens=100, batch_tokens=10, deadline=5.4)


def test_other_calls_take_their_turn_and_stop_too():
    async def work(queue):
        assert await queue.ask([Call(lambda: 5, 1), Call(lambda: 7, 1)]) == [5, 7]
        with pytest.raises(ZeroDivisionError):
            await queue.ask([Call(lambda: 1 // 0, 1)])
        begun = threading.Event()
        blocked = asyncio.ensure_future(queue.ask([Call(lambda: begun.wait(5), 1)]))
        done = []
        waiting = asyncio.ensure_future(queue.ask([Call(lambda: done.append(1), 1)]))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.sleep(0)
        begun.set()
        assert await blocked == [True]
        assert done == []

    run(work)


def test_nobody_is_rejected_for_the_work_of_a_file():
    model = Model()

    async def work(queue):
        first = await stand_still(queue, model, "x" * 10)
        some = requests(model, *["x" * 10] * 30)
        file = asyncio.ensure_future(queue.ask(some, is_file=True))
        many = [Call(partial(int, 5), 90) for _ in range(9)]
        calls = asyncio.ensure_future(queue.ask(many, is_file=True))
        await asyncio.sleep(0.01)
        waiting = sum(len(group.waiting) for group in queue.waiting.groups)
        assert (queue.waiting.tokens, queue.texts, waiting) == (0, 1, 39)
        queue.speed.tokens_per_second = 1.0
        alone = find(queue, model, "x" * 90)  # as if nothing waited
        await asyncio.sleep(0.01)
        model.open.set()
        await asyncio.gather(first, file, calls, alone)

    run(work, queue_tokens=100, batch_tokens=10, queue_texts=3)


def test_work_is_cancelled_when_the_client_leaves():
    async def main():
        async def never():
            await asyncio.sleep(100)
            return {}

        async def soon():
            await asyncio.sleep(0.01)
            return {"type": "http.disconnect"}

        async def answer():
            return 5

        async def fail():
            raise ZeroDivisionError

        assert await run_while_connected(answer(), never) == 5
        with pytest.raises(Rejection, match="The client left"):
            await run_while_connected(never(), soon)
        with pytest.raises(ZeroDivisionError):
            await run_while_connected(fail(), never)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await run_while_connected(never(), never)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


@pytest.mark.slow
def test_an_answer_does_not_depend_on_other_clients(models):
    """30 clients at once, each with other texts, wishes and addresses, get what they get alone."""
    server = Server(models, ServerConfig(split_sentences=False), workers=2)
    translator = models.pairs["en", "de"]
    texts = sentences(60, 8, longest=30)
    chooser = random.Random(1)
    wishes = [chooser.choice([0, 0, 0, 1, 3]) for _ in texts]
    with TestClient(App(server)) as client:

        def send(number):
            path = "/align" if number % 7 == 0 else "/translate"
            return ask(client, path, q=texts[number], alternatives=wishes[number]).json()

        alone = [send(number) for number in range(len(texts))]
        assert [a["translatedText"] for a in alone] == translator.translate(texts)
        together = {}

        def one(numbers):
            for number in numbers:
                together[number] = send(number)

        order = list(range(len(texts)))
        chooser.shuffle(order)
        threads = [threading.Thread(target=one, args=(order[i::30],)) for i in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [together[number] for number in range(len(texts))] == alone
        # Some clients shared batches.
        batches = server.metrics.value("headway_batch_segments_count")
        assert batches < server.metrics.value("headway_segments_total")


@pytest.mark.slow
def test_a_deadline_ends_the_work(model_directory):
    # A model that goes on for minutes.
    models = load_models([model_directory], overrides={"search.max-extra": "100000"})
    server = Server(models, ServerConfig(deadline=0.2, split_sentences=False))
    text = "the cat sees " * 10
    with TestClient(App(server)) as client:
        started = time.perf_counter()
        answer = ask(client, q=text)
        assert answer.status_code == 503
        assert answer.json() == {"error": "This took more than 0.2 seconds"}
        assert "retry-after" in answer.headers
        for path, more in (("/translate", {"format": "html"}), ("/align", {}), ("/attention", {})):
            assert ask(client, path, q=text, **more).status_code == 503
        # Before its first part a stream has the status, later an event.
        assert "This took more than 0.2 seconds" in ask(client, "/stream", q=text).text
        deadline = time.perf_counter() + 20
        while server.queue.idle_workers < 1 and time.perf_counter() < deadline:
            time.sleep(0.01)
        assert server.queue.idle_workers == 1  # the thread stops within the work
        assert time.perf_counter() - started < 30
