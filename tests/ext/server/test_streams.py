"""``POST /stream``: its status, its place among the pending requests, and its deadline."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.types import Message

from headway.config import ServerConfig
from headway.ext.server import handlers
from headway.ext.server.app import make_app
from headway.ext.server.context import Context
from headway.ext.server.jobs import JobGroup
from headway.ext.server.messages import StreamRequest
from headway.ext.server.models import Models, load_models
from headway.ext.server.server import Server
from headway.text.tokenizer import Tokenizer
from support.toy_models import write_random_model

FIELDS = {"q": "  the cat sees the dog", "source": "en", "target": "de"}


@pytest.fixture(scope="module")
def models(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Models:
    directory = write_random_model(tmp_path_factory.mktemp("model"), tokenizer, ("en", "de"), 10)
    return load_models([directory], overrides={"search.max-extra": "7"})


def stream(server: Server, limit: int = 1_000_000) -> tuple[int, str, list[int]]:
    """Send a request as a client that leaves after some parts of the answer.

    Returns:
        The status, the answer, and the pending requests at each part of the answer.
    """
    sent: list[Message] = []
    pending: list[int] = []
    has_left = asyncio.Event()
    bodies = [{"type": "http.request", "body": json.dumps(FIELDS).encode()}]

    async def receive() -> Message:
        if bodies:
            return bodies.pop()
        await has_left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        pending.append(server.admission.pending)
        if len(sent) == limit:
            has_left.set()

    headers = [(b"content-type", b"application/json")]
    scope: dict[str, Any] = {
        "type": "http", "method": "POST", "path": "/stream", "headers": headers, "query_string": b"",
    }  # fmt: skip
    asyncio.run(make_app(server)(scope, receive, send))
    answer = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], answer.decode(), pending


def replace_translation(monkeypatch: pytest.MonkeyPatch, *parts: str) -> list[str]:
    """Let streams send these parts and then wait forever; returns what was closed."""
    closed = []

    async def generate() -> AsyncGenerator[str, None]:
        try:
            for part in parts:
                yield part
            await asyncio.Event().wait()
        finally:
            closed.append("stream")

    async def replacement(request: StreamRequest, context: Context) -> AsyncGenerator[str, None]:
        return generate()

    monkeypatch.setattr(handlers, "stream", replacement)
    return closed


def test_a_stream_is_pending_until_its_end(models: Models) -> None:
    server = Server(models)
    status, answer, pending = stream(server)
    assert status == 200
    assert answer.count("event: token") > 1
    assert answer.count("event: done") == 1
    assert set(pending) == {1}
    assert server.admission.pending == 0


def test_rejections_of_a_stream_keep_their_status(models: Models) -> None:
    small = ServerConfig(queue_tokens=3, batch_tokens=3)
    status, answer, _ = stream(Server(models, small))
    assert status == 400
    assert "error" in json.loads(answer)
    server = Server(models, ServerConfig(queue_tokens=50, batch_tokens=50))
    server.queue.idle_workers = 0

    def wait_in_queue(tokens: int) -> None:
        loop = asyncio.new_event_loop()
        server.queue.waiting.groups = [
            JobGroup(None, 0.0, 0.0, loop.create_future(), tokens=tokens)
        ]
        server.queue.waiting.tokens = tokens
        loop.close()

    wait_in_queue(49)  # room for a request, but not for this one
    status, answer, _ = stream(server)
    assert status == 429
    assert json.loads(answer)["error"].endswith("try again later")
    assert server.admission.pending == 0


@pytest.mark.slow
def test_a_stream_has_one_deadline(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(models, ServerConfig(deadline=0.2))
    message = {"error": "This took more than 0.2 seconds"}
    closed = replace_translation(monkeypatch)
    status, answer, _ = stream(server)
    assert (status, json.loads(answer)) == (503, message)
    assert closed == ["stream"]
    closed = replace_translation(monkeypatch, "one", "two")
    status, answer, _ = stream(server)
    assert status == 200
    assert answer.count("event: token") == 2
    assert answer.endswith(f"event: error\ndata: {json.dumps(message)}\n\n")
    assert server.admission.pending == 0
    assert closed == ["stream"]


@pytest.mark.parametrize("parts", [(), ("one", "two")])
def test_a_stream_whose_model_fails_ends_with_an_error(
    models: Models, monkeypatch: pytest.MonkeyPatch, parts: tuple[str, ...]
) -> None:
    async def fail() -> AsyncGenerator[str, None]:
        for part in parts:
            yield part
        raise RuntimeError("of a model")

    async def replacement(request: StreamRequest, context: Context) -> AsyncGenerator[str, None]:
        return fail()

    monkeypatch.setattr(handlers, "stream", replacement)
    server = Server(models)
    status, answer, _ = stream(server)
    message = json.dumps({"error": "Internal Server Error"})
    if parts:
        assert (status, answer.count("event: token")) == (200, 2)
        assert answer.endswith(f"event: error\ndata: {message}\n\n")
    else:
        assert (status, json.loads(answer)) == (500, json.loads(message))
    assert server.admission.pending == 0


def test_a_stream_ends_when_its_client_leaves(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(models)
    closed = replace_translation(monkeypatch, "one")
    status, answer, _ = stream(server, limit=2)  # the status and one part
    assert status == 200
    assert answer.count("event: ") == 1
    assert closed == ["stream"]
    assert server.admission.pending == 0
