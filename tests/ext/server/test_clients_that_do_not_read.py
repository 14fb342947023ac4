"""Clients that do not read their answers."""

import asyncio

import pytest

from headway.ext.server import handlers
from headway.ext.server.app import PORTION, App
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from support.server import make_scope, never

SCOPE = make_scope("/languages", method="GET", headers=[(b"host", b"localhost")])


@pytest.mark.parametrize(
    "length", [0, 1, PORTION - 1, PORTION, PORTION + 1, 5 * PORTION, 5 * PORTION + 7]
)
def test_a_long_answer_is_sent_in_portions_that_the_client_must_take_in_time(
    models, monkeypatch, length
):
    async def languages(context):
        return "x" * length

    monkeypatch.setattr(handlers, "languages", languages)
    config = ServerConfig(idle_seconds=0.05)
    app, sent = App(Server(models, config)), []

    async def send(message):
        sent.append(message)
        if not is_read and len(sent) == 3:
            await never()

    is_read = True
    asyncio.run(app(SCOPE, never, send))
    body = [message["body"] for message in sent[1:]]
    assert len(b"".join(body)) == length
    assert max(map(len, body)) <= PORTION
    assert [m.get("more_body", False) for m in sent[1:]] == [True] * (len(body) - 1) + [False]
    sent.clear()
    is_read = False
    if len(body) > 1:
        with pytest.raises(TimeoutError):
            asyncio.run(app(SCOPE, never, send))
