"""Documents that DeepL's clients send, ask for and fetch."""

import asyncio
import time
from functools import partial

import pytest

from headway.errors import HeadwayError
from headway.ext.server import file_jobs
from headway.ext.server.file_jobs import MOST_JOBS, MOST_OF_A_CLIENT, FileJobs
from headway.ext.server.file_store import FileStore
from headway.ext.server.file_translation import FileProgress, KeptDocument
from headway.ext.server.rejection import Rejection
from headway.ext.server.server_settings import ServerConfig
from support.server import ask_about, client_of, fetch, send_document, send_file, wait_for

UNKNOWN = "00000000-0000-0000-0000-000000000000"  # the name of no glossary


def test_a_document_is_sent_asked_for_and_fetched(models):
    page = b"<html lang=en><p>the <b>dog</b></p><code>the</code></html>"
    with client_of(models) as client:
        document = send_document(client, "a.html", page).json()
        assert [len(value) for value in document.values()] == [32, 64]
        status = wait_for(client, document)
        assert status["status"] == "done"
        assert status["billed_characters"] == len("the dog")
        address = f"/v2/document/{document['document_id']}/result"
        key = {"document_key": document["document_key"]}
        fetched = client.post(address, data=key)
        assert fetched.headers["content-disposition"].endswith("a.de.html")
        same = fetch(client, send_file(client, "a.html", page))
        assert fetched.content == same.content
        assert client.get("/v2/usage").json()["character_count"] == len("the dog")
        for wrong in ({"document_key": "0" * 64}, {"document_key": "ä"}):
            assert client.post(address, json=wrong).status_code == 404
        assert client.post(address).status_code == 400
        assert client.post("/v2/document/x", json=key).status_code == 404


def test_a_document_that_made_room_for_others_is_an_error_with_the_reason(models, monkeypatch):
    monkeypatch.setattr("headway.ext.server.file_store.MOST_FILES", 1)
    with client_of(models) as client:
        documents = []
        for _ in range(2):  # one after the other: two at once may end in another order
            documents.append(send_document(client, "a.txt", b"the cat\n").json())
            assert wait_for(client, documents[-1])["status"] == "done"
        first = documents[0]
        status = wait_for(client, first)
        assert status["status"] == "error"
        assert "if there is room" in status["error_message"] == status["message"]
        answer = ask_about(client, first, "/result")
        assert (answer.status_code, answer.json()) == (404, {"message": status["message"]})


def test_rates_count_files_and_not_the_questions_about_them(models):
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


def test_glossaries_and_columns(models, tmp_path):
    (tmp_path / "pets.tsv").write_text("cat\tQuarkz\n")
    with client_of(models, glossaries=f"pets={tmp_path / 'pets.tsv'}") as client:
        for name, given in (
            ("a.txt", {"glossary_id": "pets"}),
            ("a.txt", {"glossary": "cat\tQuarkz"}),
            ("a.csv", {"glossary_id": "pets", "columns": "text"}),
        ):
            document = send_document(client, name, b"text,id\nthe cat,1\n", **given).json()
            assert wait_for(client, document)["status"] == "done"
            assert "Quarkz" in ask_about(client, document, "/result").text


def test_wrong_documents(models):
    with client_of(models, file_limit=5_000, body_limit=1_000) as client:
        for name, data, fields, status in (
            ("a.txt", b"x", {"glossary_id": "x"}, 404),
            ("a.txt", b"x", {"glossary": "cat\t"}, 400),
            ("a.txt", b"x", {"glossary": "cat\tQuarkz", "glossary_id": UNKNOWN}, 400),
            ("a.txt", b"x" * 9_000, {}, 413),
        ):
            answer = send_document(client, name, data, **fields)
            assert (answer.status_code, [*answer.json()]) == (status, ["message"]), name
        for name, data, fields, message in (
            ("a.json", b"{", {}, "is no JSON"),
            ("a.csv", b"a,b\n1,2\n", {}, "columns"),
            ("a.txt", b"the cat", {"glossary": "nothing", "source_lang": ""}, "not a glossary"),
        ):
            document = send_document(client, name, data, **fields).json()
            status = wait_for(client, document)
            assert status["status"] == "error"
            assert message in status["error_message"] == status["message"]
            assert ask_about(client, document, "/result").status_code == 503
    with client_of(models, file_limit=0) as client:
        assert send_document(client, "a.txt", b"x").status_code == 403


@pytest.mark.slow
def test_jobs_wait_end_and_are_forgotten(monkeypatch):
    config = ServerConfig(file_jobs=1, file_deadline=0.2)
    files = FileStore(config)
    jobs = FileJobs(files, config)

    async def run():
        first, second = asyncio.Event(), asyncio.Event()
        progress = FileProgress(total=30)

        async def work(until, _process):
            await until.wait()
            return KeptDocument(files.add(b"x", "a.txt")[0])

        async def fail(error, _process):
            raise error

        names = [jobs.start("", progress, partial(work, event)) for event in (first, second)]
        found = [jobs.find(name, jobs.key_of(name), "") for name in names]
        await asyncio.sleep(0.01)
        assert [bool(job.started_at) for job in found] == [True, False]
        assert found[0].seconds_remaining is None
        progress.done = 10
        remaining = found[0].seconds_remaining
        assert remaining is not None
        assert remaining <= 2
        with pytest.raises(Rejection):
            async with files.reserve():
                pass
        first.set()
        await asyncio.sleep(0.01)
        assert [bool(job.kept) for job in found] == [True, False]
        assert found[1].started_at
        errors = [Rejection(400, "wrong"), HeadwayError("damaged\nmore"), ValueError("secret")]
        failing = [jobs.start("", FileProgress(), partial(fail, error)) for error in errors]
        await asyncio.sleep(0.4)  # the second job is over its deadline
        assert found[1].error == "This took more than 0.2 seconds"
        messages = [jobs.find(name, jobs.key_of(name), "").error for name in failing]
        assert messages == ["wrong", "damaged", "Internal Server Error"]
        with pytest.raises(Rejection):
            jobs.find(names[0], jobs.key_of(names[0]), "another owner")
        waiting = [
            jobs.start(f"client {number // 9}", FileProgress(), partial(work, asyncio.Event()))
            for number in range(MOST_JOBS)
        ]
        with pytest.raises(Rejection) as raised:
            jobs.start("", FileProgress(), partial(work, first))
        assert raised.value.status == 429
        await jobs.close()
        assert all(jobs.find(name, jobs.key_of(name), "").ended_at for name in waiting)
        cancelled = jobs.start("", FileProgress(), partial(work, asyncio.Event()))
        next_one = jobs.start("", FileProgress(), partial(work, asyncio.Event()))
        await asyncio.sleep(0)
        job, following = (jobs.find(n, jobs.key_of(n), "") for n in (cancelled, next_one))
        with pytest.raises(Rejection):
            jobs.cancel(cancelled, "0" * 64, "")
        jobs.cancel(cancelled, job.key, "")
        await asyncio.sleep(0.01)
        assert job.ended_at
        assert following.started_at
        with pytest.raises(Rejection):
            jobs.find(cancelled, job.key, "")
        of_a_key = [
            jobs.start("A", FileProgress(), partial(work, first)) for _ in range(MOST_OF_A_CLIENT)
        ]
        with pytest.raises(Rejection) as raised:
            jobs.start("A", FileProgress(), partial(work, first))
        assert raised.value.status == 429
        assert jobs.start("B", FileProgress(), partial(work, first)) not in of_a_key
        await jobs.close()
        files.processes.close()
        clock = time.monotonic() + file_jobs.KEPT_SECONDS + 1
        monkeypatch.setattr("headway.ext.server.file_jobs.time.monotonic", lambda: clock)
        key = jobs.key_of(names[0])
        with pytest.raises(Rejection):
            jobs.find(names[0], key, "")

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
