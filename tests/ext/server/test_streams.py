"""``POST /stream``: its status, its place among the pending requests, and its deadline."""

import asyncio
import json
from functools import wraps
from types import SimpleNamespace

import pytest

from headway.ext.server import handlers
from headway.ext.server.app import App
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from support.server import make_scope

FIELDS = {"q": "  the cat sees the dog", "source": "en", "target": "de"}


def stream(server, limit=1_000_000):
    """Send a request as a client that leaves after some parts of the answer.

    Returns:
        The status, the answer, and the pending requests at each part of the answer.
    """
    sent = []
    pending = []
    has_left = asyncio.Event()
    bodies = [{"type": "http.request", "body": json.dumps(FIELDS).encode()}]

    async def receive():
        if bodies:
            return bodies.pop()
        await has_left.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        pending.append(server.admission.pending)
        if len(sent) == limit:
            has_left.set()

    asyncio.run(App(server)(make_scope("/stream", "application/json"), receive, send))
    answer = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], answer.decode(), pending


def read_last_event(answer):
    """Return the name and the data of the last event of a stream."""
    *_, name, data, end, _ = answer.split("\n")
    assert (name[:7], data[:6], end) == ("event: ", "data: ", "")
    return name[7:], json.loads(data[6:])


def replace_translation(monkeypatch, *parts, error=None):
    """Let streams send these parts and then fail, or wait forever; returns what was closed."""
    closed = []

    async def generate():
        try:
            for part in parts:
                yield part
            if error:
                raise error
            await asyncio.Event().wait()
        finally:
            closed.append("stream")

    @wraps(handlers.stream)
    async def replacement(request, context):
        return generate()

    monkeypatch.setattr(handlers, "stream", replacement)
    return closed


def test_a_stream_is_pending_until_its_end(models):
    server = Server(models)
    status, answer, pending = stream(server)
    assert status == 200
    assert answer.count("event: token") > 1
    assert answer.count("event: done") == 1
    assert set(pending) == {1}
    assert server.admission.pending == 0


def test_rejections_of_a_stream_keep_their_status(models):
    small = ServerConfig(queue_tokens=3, batch_tokens=3)
    status, answer, _ = stream(Server(models, small))
    assert status == 400
    assert "error" in json.loads(answer)
    server = Server(models, ServerConfig(queue_tokens=50, batch_tokens=50))
    server.queue.idle_workers = 0
    waiting = SimpleNamespace(is_file=False, load=49, turn=0)
    server.queue.waiting.groups.append(waiting)
    server.queue.waiting.tokens = 49  # room for a request, but not for this one
    status, answer, _ = stream(server)
    assert status == 429
    assert json.loads(answer)["error"].endswith("try again later")
    assert server.admission.pending == 0


@pytest.mark.slow
def test_a_stream_has_one_deadline(models, monkeypatch):
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
    assert read_last_event(answer) == ("error", message)
    assert server.admission.pending == 0
    assert closed == ["stream"]


def test_a_stream_whose_model_fails_ends_with_an_error(models, monkeypatch):
    server = Server(models)
    message = {"error": "Internal Server Error"}
    replace_translation(monkeypatch, "one", "two", error=RuntimeError("of a model"))
    status, answer, _ = stream(server)
    assert (status, answer.count("event: token")) == (200, 2)
    assert read_last_event(answer) == ("error", message)
    replace_translation(monkeypatch, error=RuntimeError("of a model"))
    status, answer, _ = stream(server)
    assert (status, json.loads(answer)) == (500, message)
    assert server.admission.pending == 0


def test_a_stream_ends_when_its_client_leaves(models, monkeypatch):
    server = Server(models)
    closed = replace_translation(monkeypatch, "one")
    status, answer, _ = stream(server, limit=2)  # the status and one part
    assert status == 200
    assert answer.count("event: token") == 1
    assert closed == ["stream"]
    assert server.admission.pending == 0
