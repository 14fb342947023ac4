"""Bytes of requests: what is refused unread ends where the parser says, and a header ends at all."""

import asyncio
import errno
import json
import random
import socket

import httptools
import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from test_serving_load import BODY, HEAD, LENGTH, WHOLE, fill, gate
from uvicorn.server import ServerState

from headway.serving.connection import HEADER_BYTES, connection_class
from headway.serving.door import Door
from headway.serving.gate import ALWAYS, Gate
from headway.serving.settings import ServerConfig

__all__ = ["gate"]

PIECES = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\0", b"\x7f", b"\xe9", b"X: y\r\n", b"X : y\r\n", b"5", b",",
    LENGTH, LENGTH.lower(), b"Content-Length: 0x9\r\n", b"Content-Length: 5, 5\r\n", b" 6\r\n", b"\r\n 6",
    b"Content-Length : 46\r\n", b"Transfer-Encoding: chunked\r\n", b"\nTransfer-Encoding: chunked\r\n",
    b"HTTP/3.7", b"Http/1.1", b"POST", b"GET", b"+", b"X\r\n", b"Connection: Upgrade\r\n", b"Upgrade: h2c\r\n",
]  # fmt: skip


class Messages:
    """What the parser of all other requests finds."""

    def __init__(self, data: bytes) -> None:
        self.ended, self.body, self.error = 0, b"", False
        parser = httptools.HttpRequestParser(self)
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass
        except httptools.HttpParserError:
            self.error = True

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.ended += 1


def one_request(data: bytes) -> bool:
    found = Messages(data)
    return not found.error and found.ended == 1 and data.endswith(found.body)


@pytest.mark.parametrize(
    "data",
    [
        HEAD + LENGTH.replace(b"\r\n", b"\r\n 6\r\n") + b"\r\n" + BODY,
        HEAD.replace(b"x\r\n", b"x\n") + LENGTH + b"\r\n" + BODY,
        HEAD + b"Content-Length: 0x9\r\n" + LENGTH + b"\r\n" + BODY,
        HEAD + b"Content-Length : 5\r\n" + LENGTH + b"\r\n" + BODY,
        WHOLE.replace(b"HTTP/1.1", b"HTTP/3.7"),
        WHOLE.replace(b"HTTP", b"Http"),
    ],
)
def test_what_the_parser_refuses_is_left_to_it(gate: Gate, data: bytes) -> None:
    assert not one_request(data)
    assert fill(gate).turn_away(WHOLE)
    assert gate.turn_away(data) is None


def test_what_is_turned_away_is_one_request_to_the_parser(gate: Gate) -> None:
    """Else what follows on the connection would be read from another place than it was meant from."""
    chooser = random.Random(8)
    refused = 0
    for _ in range(5000):
        data = WHOLE
        for _ in range(chooser.randrange(1, 4)):
            at = chooser.randrange(len(data) - len(BODY))
            end = at + chooser.choice([0, 0, 1, 3])
            data = data[:at] + chooser.choice(PIECES) + data[end:]
        fill(gate)
        if gate.turn_away(data) is not None:
            refused += 1
            assert one_request(data), data
    assert refused > 100
    assert gate.posts == ALWAYS


async def length(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that takes its time, and says how long a body was."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await asyncio.sleep(0.3)
    text = b"%d" % len(body)
    headers = [(b"content-length", b"%d" % len(text))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def talk(gate: Gate, *parts: bytes, application: ASGIApp = length) -> bytes:
    """Return what comes back for the parts of what a client sends, until the connection ends."""

    async def run() -> bytes:
        limits = ServerConfig(idle_seconds=0.2)
        config = uvicorn.Config(application, ws="none", log_config=None)
        config.load()
        made = connection_class(limits, gate)
        state = ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: made(config, state, {}), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.05)
        found = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        server.close()
        return found

    return asyncio.run(run())


def test_a_long_body_is_none_of_the_next_header(gate: Gate) -> None:
    """Also if both come at once; and the wait for the rest is not the wait for the answer."""
    body = b"x" * (HEADER_BYTES + 4000)
    first = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    found = talk(gate, first + b"GET /hea", b"lth HTTP/1.1\r\nHost: x\r\n\r\n")
    answers = found.split(b"HTTP/1.1 ")[1:]
    assert [answer[:3] for answer in answers] == [b"200", b"200"]
    assert [answer.rpartition(b"\r\n\r\n")[2] for answer in answers] == [b"%d" % len(body), b"0"]
    assert talk(gate, first + b"GET /hea").count(b"HTTP/1.1 200") == 1


def test_a_header_behind_a_body_has_an_end(gate: Gate) -> None:
    part = b"x" * (HEADER_BYTES // 2)
    for end in (b"", b"\r\nX: "):
        found = talk(gate, WHOLE + b"GET / HTTP/1.1\r\n", b"X: " + part, end + part, end + b"x")
        assert b"HTTP/1.1 400" in found
        assert json.loads(found.rpartition(b"\r\n\r\n")[2]) == {"error": "Header too large."}


def test_a_client_that_leaves_while_it_is_refused_is_no_error(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[Exception] = []

    async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 413, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        except Exception as error:
            errors.append(error)

    def gone(transport: object) -> None:  # what the system says of a socket that was reset
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    monkeypatch.setattr("asyncio.selector_events._SelectorSocketTransport.write_eof", gone)
    begun = HEAD + b"Content-Length: 9000000\r\n\r\n"
    assert talk(gate, begun, application=refusing).startswith(b"HTTP/1.1 413")
    assert not errors


@pytest.mark.parametrize(("data", "coming"), [(WHOLE, 1), (b"GET /metrics HTTP/1.1\r\n", 0)])
def test_only_what_takes_a_place_counts_on_its_way_from_the_door(
    gate: Gate, data: bytes, coming: int
) -> None:
    class Connection(asyncio.Protocol):
        def begin(self, data: bytes) -> None:
            pass

    async def run() -> list[int]:
        sock = socket.create_server(("127.0.0.1", 0))
        with socket.create_connection(sock.getsockname()) as client:
            client.sendall(data)
            await asyncio.sleep(0.05)
            door = Door(sock, Connection, gate)
            sock.setblocking(False)
            door.accept()
            counted = [gate.coming]
            door.close()
            await door.wait_closed()
            await asyncio.sleep(0)
            return [*counted, gate.coming]

    assert asyncio.run(run()) == [coming, 0]
