"""Documents that DeepL's clients send, ask for and fetch."""

import asyncio
import time

import pytest

from headway.errors import HeadwayError
from headway.ext.server.files import (
    KEPT_SECONDS,
    MOST_JOBS,
    MOST_OF_A_CLIENT,
    FileJob,
    Files,
    TranslatedFile,
)
from headway.ext.server.rejection import Rejection
from headway.ext.server.server_settings import ServerConfig
from support.server import ask_about, client_of, send_document, wait_for


def test_a_document_that_made_room_for_others_is_gone(models, monkeypatch):
    monkeypatch.setattr("headway.ext.server.files.KEPT_FILES", 1)
    with client_of(models, file_limit=30) as client:
        documents = []
        for _ in range(2):  # one after the other: two at once may end in another order
            documents.append(send_document(client, "a.txt", b"." * 29 + b"\n").json())
            assert wait_for(client, documents[-1])["status"] == "done"
        for part in ("", "/result"):
            assert ask_about(client, documents[0], part).status_code == 404
            assert ask_about(client, documents[1], part).status_code == 200


def test_rates_count_files_and_not_the_questions_about_them(models, monkeypatch):
    monkeypatch.setattr("headway.ext.server.clients.monotonic", lambda: 1000.0)
    with client_of(models, req_limit=3) as client:
        document = send_document(client, "a.txt", b"the cat\n" * 9).json()
        assert wait_for(client, document)["status"] == "done"
        for _ in range(5):
            assert ask_about(client, document).is_success
            assert client.get("/v2/usage").is_success
        assert ask_about(client, document, "/result").is_success
        texts = {"text": ["a", "b", "c"], "target_lang": "DE", "source_lang": "EN"}
        assert client.post("/v2/translate", json=texts).status_code == 429
        assert send_document(client, "a.txt", b"the cat\n").is_success
        assert client.post("/v2/translate", data=texts | {"text": "a"}).is_success
        assert send_document(client, "a.txt", b"the cat\n").status_code == 429


@pytest.mark.slow
def test_jobs_wait_end_and_are_forgotten(monkeypatch):
    files = Files(ServerConfig(file_jobs=1, file_deadline=0.2))

    async def work(job, until):
        async with files.processes.take(waits=True):
            job.started_at = time.monotonic()
            async with asyncio.timeout(files.config.file_deadline):
                await until.wait()
        job.files = [TranslatedFile("a.txt", b"x")]
        files.keep(job)

    async def fail(error):
        raise error

    def start(client="", until=None):
        job = FileJob(client, key="KEY")
        files.start(job, work(job, until or asyncio.Event()))
        return job

    def find(job, key="key", owner=""):
        return files.find_job(job.name.lower(), key, owner)

    async def run():
        until = asyncio.Event()
        first, second = start(until=until), start()
        first.total = 30
        await asyncio.sleep(0.01)
        assert (bool(find(first).started_at), bool(find(second).started_at)) == (True, False)
        assert first.seconds_remaining is None
        first.done = 10
        remaining = first.seconds_remaining
        assert remaining is not None
        assert remaining <= 2
        with pytest.raises(Rejection):
            async with files.processes.take(waits=False):
                pass
        until.set()
        await asyncio.sleep(0.01)
        assert (bool(first.files), bool(second.files)) == (True, False)
        assert second.started_at
        with pytest.raises(Rejection):
            files.find_file(first.address_of(first.files[0]))  # without the key
        for error, message in (
            (Rejection(400, "wrong"), "wrong"),
            (HeadwayError("damaged\nmore"), "damaged"),
            (ValueError("secret"), "Internal Server Error"),
        ):
            failing = FileJob("", key="KEY")
            files.start(failing, fail(error))
            await asyncio.sleep(0.01)
            assert find(failing).error == message
        await asyncio.sleep(0.4)  # the second job is over its deadline
        assert second.error == "This took more than 0.2 seconds"
        for wrong in ({"key": "0" * 64}, {"key": "ä"}, {"owner": "another owner"}):
            with pytest.raises(Rejection):
                find(first, **wrong)
        waiting = [start(f"client {number // 9}") for number in range(MOST_JOBS)]
        with pytest.raises(Rejection) as raised:
            start()
        assert raised.value.status == 429
        await files.close()
        assert all(find(job).ended_at for job in waiting)
        cancelled, following = start(), start()
        await asyncio.sleep(0.01)
        files.cancel(cancelled)
        await asyncio.sleep(0.01)
        assert following.started_at
        with pytest.raises(Rejection):
            find(cancelled)
        for _ in range(MOST_OF_A_CLIENT):
            start("A")
        with pytest.raises(Rejection) as raised:
            start("A")
        assert raised.value.status == 429
        start("B")
        await files.close()
        clock = time.monotonic() + KEPT_SECONDS + 1
        monkeypatch.setattr("headway.ext.server.files.time.monotonic", lambda: clock)
        with pytest.raises(Rejection):
            find(first)

    asyncio.run(run())


def test_a_document_is_given_up(models):
    with client_of(models) as client:
        document = send_document(client, "a.txt", b"The cat sees a dog. " * 2_000).json()
        wrong = document | {"document_key": "0" * 64}
        assert ask_about(client, wrong, "/cancel").status_code == 404
        answer = ask_about(client, document, "/cancel")
        assert (answer.status_code, answer.content) == (204, b"")
        for part in ("", "/result", "/cancel"):
            assert ask_about(client, document, part).status_code == 404
