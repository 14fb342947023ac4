"""More requests than can be served, and connections that ask for too much."""

import asyncio
import json
import re
import socket
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
from starlette.types import Receive, Scope, Send

from headway.serving.batcher import Batcher
from headway.serving.door import Door
from headway.serving.gate import ALWAYS, Gate
from headway.serving.metrics import Metrics
from headway.serving.settings import ServerConfig
from support.server import Running

BODY = b'{"q": "a dog", "source": "en", "target": "de"}'
HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
WHOLE = HEAD + LENGTH + b"\r\n" + BODY


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that is never asked."""
    raise AssertionError


@pytest.fixture
def gate() -> Gate:
    metrics = Metrics()
    return Gate(nothing, metrics, {"/translate"}, Batcher(1, ServerConfig(), metrics))


def fill(gate: Gate) -> Gate:
    gate.posts = ALWAYS
    gate.batcher.texts = gate.batcher.limits.queue_texts
    return gate


def test_a_request_is_refused_by_its_bytes_only_when_there_is_no_time(gate: Gate) -> None:
    assert gate.turn_away(WHOLE) is None
    gate.posts = 10 * ALWAYS
    assert gate.turn_away(WHOLE) is None  # many, but they are answered quickly
    gate.done, gate.busy = 1.0, 0.018  # seconds for each: ten times ALWAYS wait for 11.5 of 30
    assert gate.turn_away(WHOLE) is None
    gate.busy = 0.025
    answer, last = gate.turn_away(WHOLE) or (b"", True)
    assert not last
    assert answer.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 16\r\n" in answer
    assert b"access-control-allow-origin: *\r\n" in answer
    head, _, body = answer.partition(b"\r\n\r\n")
    assert int(re.findall(rb"content-length: (\d+)", head)[0]) == len(body)
    assert "try again later" in json.loads(body)["error"]
    # Those that have been let in and are not read yet count as those that are.
    gate.posts, gate.coming = ALWAYS, 9 * ALWAYS
    assert gate.turn_away(WHOLE)
    counted = {k: v for k, v in gate.metrics.counters.items() if k[0] == "headway_requests_total"}
    labels = (("endpoint", "/translate"), ("status", "429"))
    assert counted == {("headway_requests_total", labels): 2}
    assert gate.metrics.counters["headway_rejected_total", ()] == 2


def test_answers_that_come_in_batches_tell_the_pace_of_batches(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for _ in range(40):
        now += 2.0  # seconds a batch
        for _ in range(64):
            gate.posts = 500
            gate.end(200, 20.0)
    assert 0.8 < gate.wait() * 32 / 499 < 1.2  # 64 in 2 seconds, also just after a batch
    paced = gate.pace(1.0)
    assert 40 < paced < 60
    # A few that come now and then say nothing of how fast a crowd is answered.
    gate.posts = 3
    for _ in range(3):
        now += 100.0
        gate.end(200, 0.1)
    assert gate.pace(1.0) == paced


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"POST /tra",
        b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
        WHOLE[:-1],
        WHOLE + b"POST",
        HEAD + LENGTH + LENGTH + b"\r\n" + BODY,
        HEAD + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n" + BODY,
        HEAD + LENGTH + b"Expect: 100-continue\r\n\r\n" + BODY,
        HEAD + b"Content-Length: 0x2d\r\n\r\n" + BODY,
        HEAD + b"X: " + b"x" * 9000 + b"\r\n" + LENGTH + b"\r\n" + BODY,
    ],
)
def test_what_is_not_one_plain_request_is_read_as_any_other(gate: Gate, data: bytes) -> None:
    assert fill(gate).turn_away(WHOLE)
    assert gate.turn_away(data) is None


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (WHOLE, False),
        (HEAD + LENGTH + b"Connection: Close\r\n\r\n" + BODY, True),
        (WHOLE.replace(b"HTTP/1.1", b"HTTP/1.0"), True),
    ],
)
def test_a_refusal_ends_the_connection_that_asks_for_it(
    gate: Gate, data: bytes, last: bool
) -> None:
    answer, ends = fill(gate).turn_away(data) or (b"", None)
    assert ends is last
    assert (b"\r\nconnection: close\r\n" in answer) is last
    assert b"\r\nconnection: close\r\n" in (gate.turn_away(data, last=True) or (b"", None))[0]


def test_a_request_does_not_take_its_own_place() -> None:
    """The last one there is room for comes in, though it is counted on its way from the door."""
    refused: list[int] = []

    async def hold() -> NoReturn:
        raise AssertionError

    async def take(message: MutableMapping[str, Any]) -> None:
        refused.append(message.get("status", 0))

    async def come_in() -> bool:
        asked = asyncio.Event()

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            asked.set()

        metrics = Metrics()
        gate = fill(Gate(application, metrics, set(), Batcher(1, ServerConfig(), metrics)))
        gate.posts -= 1
        gate.batcher.texts -= 1

        class Connection(asyncio.Protocol):
            def begin(self, data: bytes) -> None:
                scope = {"type": "http", "method": "POST", "path": "/translate"}
                self.task = asyncio.create_task(gate(scope, hold, take))

        sock = socket.create_server(("127.0.0.1", 0))
        with socket.create_connection(sock.getsockname()) as client:
            client.sendall(WHOLE)
            door = Door(sock, Connection, gate)
            door.open()
            waiting = asyncio.create_task(asked.wait())
            while not (waiting.done() or refused):
                await asyncio.sleep(0.001)
            door.close()
            await door.wait_closed()
        assert gate.coming == 0
        return asked.is_set()

    assert asyncio.run(come_in())
    assert not refused


@pytest.fixture(scope="module")
def server(model_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    # Each sentence takes for ever, until its client leaves.
    endless = ("--search.max-extra", "100000", "--server.queue-texts", str(ALWAYS))
    running = Running(tmp_path_factory.mktemp("load") / "log", str(model_directory), *endless)
    yield running
    running.stop()


def talk(connection: socket.socket, data: bytes) -> bytes:
    """Send and return the next answer."""
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
def test_refusals_are_quick_on_new_and_old_connections_and_end_with_the_crowd(
    server: Running,
) -> None:
    languages = [x["code"] for x in server.get("/languages")]
    body = json.dumps({"q": "ab", "source": languages[0], "target": languages[1]}).encode()
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    old = connect(server)
    health = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    assert b" 200 OK" in talk(old, health)
    crowd = [connect(server) for _ in range(ALWAYS)]
    try:
        for one in crowd:
            one.sendall(request)
        server.wait(lambda: server.texts_are(ALWAYS))
        for _ in range(2):
            started = time.monotonic()
            with connect(server) as new:
                answer = talk(new, request)
                assert answer[9:12] == b"429"
                # One that is taken before its first bytes are there is a connection like any other.
                if b"\r\nconnection: close\r\n" in answer:
                    assert new.recv(1) == b""
            assert time.monotonic() - started < 5  # no timeout of the server's is shorter
        # In two pieces it is no less refused.
        with connect(server) as new:
            new.sendall(request[:50])
            time.sleep(0.05)
            assert talk(new, request[50:])[9:12] == b"429"
        answer = talk(old, request)
        assert answer[9:12] == b"429"
        assert int(re.findall(rb"retry-after: (\d+)", answer.lower())[0]) >= 1
        assert b" 200 OK" in talk(old, health)  # the connection goes on
        assert server.metric("headway_rejected_total") == 4
    finally:
        for one in (old, *crowd):
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
    ],
)
@pytest.mark.parametrize("piece", [700, 1_000_000])
def test_headers_have_an_end(server: Running, data: bytes, piece: int) -> None:
    with connect(server) as connection:
        found = b""
        try:
            for at in range(0, len(data), piece):
                connection.sendall(data[at : at + piece])
            found = hear(connection)
        except OSError:  # closed while this was sending
            return
        assert found[9:12] == b"400"


@pytest.mark.slow
def test_who_is_still_sending_reads_why_nobody_listens(server: Running) -> None:
    with connect(server) as connection:
        connection.sendall(HEAD + b"Content-Length: 9000000\r\n\r\n")
        for _ in range(9):
            connection.sendall(b"x" * 1_000_000)
        assert hear(connection)[9:12] == b"413"
        assert connection.recv(1) == b""


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
        assert found[0] == {"status": "ok"}
        assert isinstance(found[1], list)
        assert "error" in found[2]
