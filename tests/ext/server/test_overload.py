"""More requests than can be served, and connections that send too much."""

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from headway.config import ServerConfig
from headway.ext.server.admission import Admission
from headway.ext.server.jobs import JobGroup
from headway.ext.server.keys import Keys
from headway.ext.server.metrics import Metrics
from headway.ext.server.middleware import ServerMiddleware
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection
from support.server import Running

HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
MOST_TEXTS = 64


def wait_in_queue(queue: TranslationQueue, tokens: int) -> None:
    """Put a request of so many tokens into the queue that no new request can overtake."""
    waiting = SimpleNamespace(is_file=False, load=tokens, turn=-tokens)
    queue.waiting.groups, queue.waiting.tokens = [cast(JobGroup, waiting)], tokens


def make_admission(keys: Keys | None = None, **limits: Any) -> Admission:
    config, metrics = ServerConfig(**limits), Metrics()
    return Admission(config, keys, TranslationQueue(1, config, metrics), metrics)


def admit(admission: Admission, body: bytes | None = None) -> dict[str, Any]:
    """Admit a request as the middleware does; without a body nothing of it may be read."""

    async def receive() -> dict[str, Any]:
        assert body is not None, "the body was read"
        return {"type": "http.request", "body": body}

    async def run() -> dict[str, Any]:
        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "headers": headers, "query_string": b""}
        admission.check_load()
        async with admission.admit(Request(scope, receive)) as (_, fields):
            return fields

    return asyncio.run(run())


def test_an_overloaded_server_rejects_before_it_reads_the_body() -> None:
    admission = make_admission(queue_texts=MOST_TEXTS, queue_tokens=500, batch_tokens=500)
    queue = admission.queue
    assert admit(admission, b'{"q": "a"}') == {"q": "a"}
    queue.texts = MOST_TEXTS
    with pytest.raises(Rejection) as caught:
        admit(admission)
    assert caught.value.status == 429
    assert caught.value.headers["Retry-After"] == "1"
    queue.texts = 0
    queue.waiting.tokens, queue.speed.tokens_per_second = 400, 25.0  # 16 of 30 seconds
    assert admit(admission, b"{}") == {}  # nothing waits: the tokens are being translated
    wait_in_queue(queue, 400)
    with pytest.raises(Rejection) as caught:
        admit(admission)
    assert caught.value.headers["Retry-After"] == "16"
    queue.speed.tokens_per_second = 50.0  # 8 seconds: less than 30 % of the deadline
    assert admit(admission, b"{}") == {}
    assert admission.metrics.value("headway_rejected_total") == 2
    assert admission.pending == 0


def test_short_requests_are_admitted_while_a_long_one_waits() -> None:
    admission = make_admission()
    queue = admission.queue
    queue.speed.tokens_per_second, queue.typical_text = 1_000.0, 20.0
    waiting = SimpleNamespace(is_file=False, load=40_000, turn=0.0)  # 40 of 30 seconds
    queue.waiting.groups, queue.waiting.tokens = [cast(JobGroup, waiting)], 40_000
    admission.check_load()
    queue.check_room(20)
    with pytest.raises(Rejection):
        queue.check_room(4_600)  # with as much of the other before its end
    admission.pending = 230  # 4.6 seconds; each of them overtakes the other, too
    admission.check_load()
    admission.pending = 0
    queue.waiting.turn = 9_000.0  # the other has had less than it could have
    with pytest.raises(Rejection):
        queue.check_room(20)


async def never() -> NoReturn:
    await asyncio.Event().wait()
    raise AssertionError


@asynccontextmanager
async def reading(
    admission: Admission, count: int, key: str = "", has_file: bool = False
) -> AsyncIterator[list[int]]:
    """Begin requests that send no body; yield the statuses of those that are rejected at once."""
    headers = [(b"authorization", b"Bearer " + key.encode())] if key else []
    scope = {"type": "http", "method": "POST", "headers": headers, "client": ("1.2.3.4", 5)}
    rejected = []

    async def one() -> None:
        try:
            async with admission.admit(Request(scope, never), has_file):
                pass
        except Rejection as error:
            rejected.append(error.status)

    tasks = [asyncio.create_task(one()) for _ in range(count)]
    await asyncio.sleep(0)
    yield rejected
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_requests_that_are_still_read_count_as_load() -> None:
    admission = make_admission(queue_texts=3)

    async def run() -> None:
        async with reading(admission, 3):
            assert admission.pending == 3
            with pytest.raises(Rejection) as caught:
                admission.check_load()
            assert caught.value.status == 429

    asyncio.run(run())
    assert admission.pending == 0


def test_requests_without_a_key_in_the_header_are_read_in_few_places(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("right\n")
    admission = make_admission(Keys(tmp_path / "keys"), queue_texts=20)

    async def run() -> None:
        async with (
            reading(admission, 11) as texts,
            reading(admission, 12, has_file=True) as files,
            reading(admission, 3, "right") as known,
            reading(admission, 3, "right", has_file=True) as known_files,
        ):
            assert (texts, files) == ([429], [429, 429])
            assert (known, known_files) == ([], [])
            # The status tells whether a key is right, for so many guesses only.
            async with reading(admission, 10, "wrong") as guesses:
                assert guesses == [429] * 10
            async with reading(admission, 1, "right") as late:
                assert late == [429]
            admission.clients.wrong_keys.check("1.2.3.4")  # what they sent may be meant for a proxy
        assert admission.pending == 0
        async with reading(admission, 10) as texts:  # the places are free again
            assert texts == []

    asyncio.run(run())


def test_uploads_leave_places_for_texts() -> None:
    admission = make_admission()

    async def run() -> None:
        async with (
            reading(admission, 23, has_file=True) as files,
            reading(admission, 200) as texts,
        ):
            assert (files, texts) == ([429] * 3, [])

    asyncio.run(run())


def test_requests_that_are_still_read_take_the_place_of_a_usual_text_each() -> None:
    admission = make_admission(queue_texts=MOST_TEXTS)
    queue = admission.queue
    wait_in_queue(queue, 100)
    queue.speed.tokens_per_second, queue.typical_text = 100.0, 20.0
    admission.pending = 40  # 1 second in the queue, and 8 of 30 more that are being read
    admission.check_load()
    queue.texts = 20  # 20 of the 40 requests are in the queue
    wait_in_queue(queue, 600)
    with pytest.raises(Rejection) as caught:
        admission.check_load()
    assert caught.value.headers["Retry-After"] == "10"
    queue.texts = 40
    admission.check_load()


def test_an_overloaded_server_answers_before_the_application_sees_the_request() -> None:
    admission = make_admission(queue_texts=MOST_TEXTS)
    sent: list[Any] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await Response("ok")(scope, receive, send)

    async def receive() -> NoReturn:
        raise AssertionError("the request was read")

    async def send(message: Message) -> None:
        sent.append(message)

    routes = [Route("/translate", application)]
    middleware = ServerMiddleware(application, admission, admission.metrics, routes)
    admission.queue.texts = MOST_TEXTS
    for method, path in (("POST", "/translate"), ("GET", "/translate"), ("GET", "/health")):
        scope = {"type": "http", "method": method, "path": path, "headers": []}
        asyncio.run(middleware(scope, receive, send))
    assert [message["status"] for message in sent[::2]] == [429, 429, 200]
    headers = dict(sent[0]["headers"])
    assert (headers[b"retry-after"], headers[b"access-control-allow-origin"]) == (b"1", b"*")
    assert json.loads(sent[1]["body"])["error"].endswith("try again later")
    counted = {
        (endpoint, status): admission.metrics.value(
            "headway_requests_total", endpoint=endpoint, status=status
        )
        for endpoint, status in (("/translate", "429"), ("/translate", "200"), ("other", "200"))
    }
    assert list(counted.values()) == [2, 0, 1]


@pytest.fixture(scope="module")
def server(model_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    # A translation ends only when its client leaves.
    endless = ("--search.max-extra", "100000", "--server.queue-texts", str(MOST_TEXTS))
    running = Running(tmp_path_factory.mktemp("load") / "log", str(model_directory), *endless)
    yield running
    running.stop()


def talk(connection: socket.socket, data: bytes) -> bytes:
    """Send data and return the next answer."""
    connection.sendall(data)
    return hear(connection)


def hear(connection: socket.socket) -> bytes:
    found = b""
    while b"\r\n\r\n" not in found:
        more = connection.recv(65536)
        if not more:
            return found
        found += more
    head, _, body = found.partition(b"\r\n\r\n")
    while len(body) < int(re.findall(rb"content-length: (\d+)", head)[0]):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def connect(server: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), 20)


@pytest.mark.slow
def test_rejections_are_quick_on_new_and_old_connections_and_end_with_the_load(
    server: Running,
) -> None:
    languages = [x["code"] for x in server.get("/languages")]
    body = json.dumps({"q": "ab", "source": languages[0], "target": languages[1]}).encode()
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    old = connect(server)
    health = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    assert b" 200 OK" in talk(old, health)
    clients = [connect(server) for _ in range(MOST_TEXTS)]
    try:
        for one in clients:
            one.sendall(request)
        server.wait(lambda: server.texts_are(MOST_TEXTS))
        for _ in range(2):
            started = time.monotonic()
            with connect(server) as new:
                assert talk(new, request)[9:12] == b"429"
            assert time.monotonic() - started < 5  # no timeout of the server's is shorter
        # A request in two packets is rejected, too.
        with connect(server) as new:
            new.sendall(request[:50])
            time.sleep(0.05)
            assert talk(new, request[50:])[9:12] == b"429"
        answer = talk(old, request)
        assert answer[9:12] == b"429"
        assert int(re.findall(rb"retry-after: (\d+)", answer.lower())[0]) >= 1
        assert b" 200 OK" in talk(old, health)  # the connection stays open
        assert server.metric("headway_rejected_total") == 4
    finally:
        for one in (old, *clients):
            one.close()
    server.wait(lambda: server.texts_are(0))
    with connect(server) as new:
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
        b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 4_000 + b"\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n" + b"X: y\r\n" * 20_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"y" * 100_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1;yyyyyyyy\r\n \r\n" * 20_000,
    ],
)
@pytest.mark.parametrize("packet", [700, 1_000_000])
def test_headers_are_limited(server: Running, data: bytes, packet: int) -> None:
    with connect(server) as connection:
        found = b""
        try:
            for at in range(0, len(data), packet):
                connection.sendall(data[at : at + packet])
            found = hear(connection)
        except OSError:  # closed while this was sending
            return
        # 499: a body that breaks off, here in its trailers, counts as a client that left.
        assert found[9:12] in (b"400", b"414", b"431", b"499")


@pytest.mark.slow
def test_a_client_that_is_still_sending_can_read_its_rejection(server: Running) -> None:
    with connect(server) as connection:
        connection.sendall(HEAD + b"Content-Length: 9000000\r\n\r\n")
        with suppress(BrokenPipeError, ConnectionResetError):  # the server reads no further
            for _ in range(9):
                connection.sendall(b"x" * 1_000_000)
        assert hear(connection)[9:12] == b"413"


@pytest.mark.slow
def test_requests_in_a_row_are_answered_in_their_order(server: Running) -> None:
    def get(path: bytes) -> bytes:
        return b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n"

    with connect(server) as connection:
        connection.sendall(get(b"/health") + get(b"/languages") + get(b"/nothing"))
        found: list[Any] = []
        data = b""
        while len(found) < 3:
            data += connection.recv(65536)
            while match := re.match(rb"(?s)(.*?)\r\n\r\n", data):
                length = int(re.findall(rb"content-length: (\d+)", match[1])[0])
                if len(data) < match.end() + length:
                    break
                found.append(json.loads(data[match.end() : match.end() + length]))
                data = data[match.end() + length :]
        assert found[0]["status"] == "ok"
        assert isinstance(found[1], list)
        assert "error" in found[2]
