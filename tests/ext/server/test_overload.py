"""More requests than can be served, and connections that send too much."""

import asyncio
import json
import re
import time
from contextlib import asynccontextmanager, suppress
from functools import partial
from http.client import HTTPResponse, RemoteDisconnected
from types import SimpleNamespace
from typing import cast

import pytest
from starlette.requests import Request

from headway.ext.server.admission import Admission
from headway.ext.server.jobs import JobGroup
from headway.ext.server.keys import Keys
from headway.ext.server.messages import DetectRequest, FileRequest
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection, overloaded
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.validation import RequestParser
from support.server import Running, make_scope, never

HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
MOST_TEXTS = 64
PARSER = RequestParser(DetectRequest, ServerConfig())
FILE_PARSER = RequestParser(FileRequest, ServerConfig())


def wait_in_queue(queue, tokens):
    """Put a request of so many tokens into the queue that no new request can overtake."""
    waiting = SimpleNamespace(is_file=False, load=tokens, turn=-tokens)
    queue.waiting.groups, queue.waiting.tokens = [cast(JobGroup, waiting)], tokens


def make_admission(keys=None, **limits):
    config, metrics = ServerConfig(**limits), Metrics()
    return Admission(config, keys, TranslationQueue(1, config, metrics), metrics)


def admit(admission, body=None):
    """Admit a request as the application does; fail if its body is read although there is none."""

    async def receive():
        assert body is not None, "the body was read"
        return {"type": "http.request", "body": body}

    async def run():
        scope = make_scope("/detect", "application/json")
        if seconds := admission.retry_after():
            raise overloaded(seconds)
        async with admission.admit(Request(scope, receive), PARSER) as (_, request):
            return request.q

    return asyncio.run(run())


def test_an_overloaded_server_rejects_before_it_reads_the_body():
    admission = make_admission(queue_texts=MOST_TEXTS, queue_tokens=500, batch_tokens=500)
    queue = admission.queue
    assert admit(admission, b'{"q": "a"}') == "a"
    queue.texts = MOST_TEXTS
    with pytest.raises(Rejection) as caught:
        admit(admission)
    assert caught.value.status == 429
    assert caught.value.headers["Retry-After"] == "1"
    queue.texts = 0
    queue.waiting.tokens, queue.speed.tokens_per_second = 400, 25.0  # 16 of 30 seconds
    assert admit(admission, b'{"q": "a"}') == "a"  # nothing waits: the tokens are being translated
    wait_in_queue(queue, 400)
    with pytest.raises(Rejection) as caught:
        admit(admission)
    assert caught.value.headers["Retry-After"] == "16"
    queue.speed.tokens_per_second = 50.0  # 8 seconds: less than 30 % of the deadline
    assert admit(admission, b'{"q": "a"}') == "a"
    assert admission.metrics.value("headway_rejected_total") == 2
    assert admission.pending == 0


@asynccontextmanager
async def reading(admission, count, key="", has_file=False, size=1_000_000):
    """Begin requests whose body has so many bytes and does not end; yield the statuses of those that are rejected at once."""
    headers = [(b"authorization", b"Bearer " + key.encode())] if key else []
    kind = "multipart/form-data; boundary=x" if has_file else ""
    scope = make_scope("/", kind, headers=headers)
    rejected = []

    async def one():
        chunks = [bytes(size)] if size else []

        async def receive():
            if not chunks:
                await never()
            return {"type": "http.request", "body": chunks.pop(), "more_body": True}

        try:
            async with admission.admit(
                Request(scope, receive), FILE_PARSER if has_file else PARSER
            ):
                pass
        except Rejection as error:
            rejected.append(error.status)

    tasks = [asyncio.create_task(one()) for _ in range(count)]
    for _ in range(3):
        await asyncio.sleep(0)
    yield rejected
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_requests_without_a_key_in_the_header_have_little_room(tmp_path):
    (tmp_path / "keys").write_text("right\n")
    admission = make_admission(Keys(tmp_path / "keys"))

    async def run():
        async with (
            reading(admission, 11) as texts,
            reading(admission, 11, has_file=True, size=5_000_000) as files,
            reading(admission, 20, "right") as known,
            reading(admission, 20, "right", has_file=True, size=5_000_000) as known_files,
        ):
            assert (texts, files) == ([429], [429])
            assert (known, known_files) == ([], [])
            async with reading(admission, 12, "wrong") as guesses:
                assert guesses == [403] * 10 + [429] * 2
            async with reading(admission, 1, "right") as late:
                assert late == [429]
        async with reading(admission, 10) as texts:  # the room is free again
            assert texts == []

    asyncio.run(run())


def test_bodies_that_do_not_come_keep_nobody_out():
    admission = make_admission()

    async def run():
        async with (
            reading(admission, 600, size=0) as headers_only,
            reading(admission, 23, has_file=True, size=5_000_000) as files,
            reading(admission, 20) as texts,
        ):
            assert (headers_only, files, texts) == ([], [429] * 3, [])
            assert not admission.retry_after()
            wait_in_queue(admission.queue, 100)
            assert not admission.retry_after()
            assert admission.pending == 0

    asyncio.run(run())


def test_of_many_requests_that_come_at_once_few_are_read_for_one_free_place():
    admission = make_admission(queue_texts=MOST_TEXTS, deadline=1.0)
    queue = admission.queue
    wait_in_queue(queue, 20)
    queue.speed.tokens_per_second, queue.typical_text = 100.0, 10.0  # one more text may wait

    read = []

    async def one():
        if not admission.retry_after():
            read.append(1)
            async with admission.admit(Request(make_scope("/"), never), PARSER):
                pass

    async def run():
        tasks = [asyncio.create_task(one()) for _ in range(100)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not admission.retry_after()  # what has not come takes no room

    asyncio.run(run())
    assert 1 <= len(read) <= 3


@pytest.fixture(scope="module")
def server(model_directory, tmp_path_factory):
    # A translation ends only when its client leaves, and none is rejected because it would be late.
    endless = ("--search.max-extra", "100000", "--server.deadline", "9999")
    limits = ("--server.queue-texts", str(MOST_TEXTS), "--threads", "1")
    log = tmp_path_factory.mktemp("load") / "log"
    running = Running(log, str(model_directory), *endless, *limits)
    yield running
    assert running.stop() == 0
    assert "ERROR" not in running.text()


def talk(connection, data):
    """Send data and return the next answer."""
    connection.sendall(data)
    return hear(connection)


def hear(connection):
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer


@pytest.mark.slow
def test_rejections_are_quick_on_new_and_old_connections_and_end_with_the_load(server):
    body = b'{"q": "ab", "source": "en", "target": "de"}'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    old = server.connect()
    health = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    assert talk(old, health).status == 200
    clients = [server.connect() for _ in range(MOST_TEXTS)]
    try:
        for one in clients:
            one.sendall(request)
        server.wait(lambda: server.texts_are(MOST_TEXTS))
        for _ in range(2):
            started = time.monotonic()
            with server.connect() as new:
                assert talk(new, request).status == 429
            assert time.monotonic() - started < 5  # no timeout of the server's is shorter
        # A request is rejected before its body comes, also one in two packets.
        with server.connect() as new:
            assert talk(new, HEAD + b"Content-Length: 99\r\n\r\n").status == 429
        with server.connect() as new:
            new.sendall(request[:50])
            time.sleep(0.05)
            assert talk(new, request[50:]).status == 429
        answer = talk(old, request)
        assert answer.status == 429
        assert int(answer.headers["retry-after"]) >= 1
        assert "content-security-policy" in answer.headers
        assert talk(old, health).status == 200  # the connection stays open
        assert server.metric("headway_rejected_total") == 5
    finally:
        for one in (old, *clients):
            one.close()
    server.wait(lambda: server.texts_are(0))
    with server.connect() as new:
        new.sendall(request)
        server.wait(lambda: server.texts_are(1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
        b"GET /health HTTP/1.1\r\nX: " + b"y" * 100_000,
        b"GET /" + b"y" * 100_000,
        b"\r\n" * 50_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n" + b"X: y\r\n" * 20_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"y" * 100_000,
    ],
)
@pytest.mark.parametrize("packet", [700, 1_000_000])
def test_headers_are_limited(server, data, packet):
    with server.connect() as connection:
        try:
            for at in range(0, len(data), packet):
                connection.sendall(data[at : at + packet])
            status = hear(connection).status
        except RemoteDisconnected:  # closed without an answer
            raise
        except OSError:  # closed while this was sending
            return
        # 499: a body that breaks off, here in its trailers, counts as a client that left.
        assert status in (400, 414, 431, 499)


@pytest.mark.slow
def test_a_client_that_is_still_sending_can_read_its_rejection(server):
    with server.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 9000000\r\n\r\n")
        with suppress(BrokenPipeError, ConnectionResetError):  # the server reads no further
            for _ in range(9):
                connection.sendall(b"x" * 1_000_000)
        assert hear(connection).status == 413


@pytest.mark.slow
def test_requests_in_a_row_are_answered_in_their_order(server):
    paths = (b"/health", b"/languages", b"/nothing")
    requests = [b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" for path in paths]
    with server.connect() as connection:
        connection.sendall(b"\r\n".join(requests) + b"Connection: close\r\n\r\n")
        data = connection.makefile("rb").read()
    health, languages, nothing = map(json.loads, re.findall(rb"\r\n\r\n(.*?)(?=HTTP/1|$)", data))
    assert health["status"] == "ok"
    assert isinstance(languages, list)
    assert "error" in nothing


@pytest.mark.slow
def test_the_work_for_clients_that_left_stops(server):
    head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    cancelled, files = map(server.metric, ("headway_cancelled_total", "process_open_fds"))
    for path, q, waiting in [(b"/translate", ["the cat"] * 9, 27), (b"/stream", "the cat", 3)]:
        sent = json.dumps({"q": q, "source": "en", "target": "de"}).encode()
        connections = [server.connect() for _ in range(3)]
        for connection in connections:
            connection.sendall(head % path + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
        server.wait(partial(server.texts_are, waiting))
        for connection in connections:
            connection.close()
        server.wait(lambda: server.texts_are(0), 5)
        server.wait(lambda: server.metric("headway_queue_tokens") == 0, 5)
    assert server.metric("headway_cancelled_total") >= cancelled + 4
    with server.connect() as connection:  # the client leaves within its body
        connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
    server.wait(lambda: server.metric("process_open_fds") <= files + 1, 5)
    assert "POST /translate 499 " in server.text()
