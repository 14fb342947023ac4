"""The answers of the server: JSON, and streams of events; work stops when the client leaves."""

import asyncio
import re
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from starlette.responses import Response
from starlette.types import Message, Receive, Send

from headway.ext.server.files import TranslatedFile
from headway.ext.server.rejection import Rejection, client_left, overloaded

T = TypeVar("T")
DEEPL = "/v2/"  # the addresses of DeepL
# How a stream of events begins.
EVENTS: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
    ],
}
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"  # the one answer that is plain text


def json_response(
    values: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with a JSON body."""
    return Response(msgspec.json.encode(values), status, headers, media_type="application/json")


def error_response(path: str, error: Rejection) -> Response:
    """Return the answer to a rejected request; DeepL's clients read ``message``, all others ``error``."""
    name = "message" if path.startswith(DEEPL) else "error"
    return json_response({name: error.message}, error.status, error.headers)


@lru_cache(maxsize=128)
def overload_response(is_deepl: bool, seconds: int) -> Response:
    """Return the answer to a request that comes at a time of overload; thousands a second get it."""
    return error_response(DEEPL if is_deepl else "", overloaded(seconds))


def make_response(value: object) -> Response:
    """Return the response with what a handler has returned."""
    if isinstance(value, TranslatedFile):
        return file_response(value)
    if isinstance(value, str):
        return Response(value, media_type=METRICS_TYPE)
    return Response(status_code=204) if value is None else json_response(value)


def file_response(file: TranslatedFile) -> Response:
    """Return a response with a file, which no browser shows as a page; older clients take the name in ASCII."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", file.name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file.name, safe='')}"
    headers = {"Content-Disposition": disposition, "Cache-Control": "no-store"}
    return Response(file.data, media_type="application/octet-stream", headers=headers)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """Run work until it is done or the client leaves, which cancels the work.

    Raises:
        Rejection: If the client has left.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(wait_for_disconnect(receive))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise client_left()
        return task.result()
    finally:
        for either in (task, leaving):
            either.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def send_parts(parts: AsyncGenerator[str, None], send: Send) -> None:
    """Send the parts of a text as server-sent events: ``token`` for each, then ``done`` with the whole text.

    The status is sent with the first event, so that a request that is rejected before keeps the status of its
    rejection; later the stream ends with an event ``error``.
    """
    text = ""
    async with aclosing(parts):
        async for part in parts:
            if part:
                if not text:
                    await send(EVENTS)
                text += part
                await send(make_event("token", {"text": part}))
    await send(make_event("done", {"translatedText": text}))


def make_event(name: str, values: Mapping[str, str]) -> Message:
    """Return the message with a server-sent event; ``token`` is never the last one."""
    body = b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(values))
    return {"type": "http.response.body", "body": body, "more_body": name == "token"}
