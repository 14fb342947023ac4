"""The answers of the server: JSON, and streams of events; work stops when the client leaves."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Send

from headway.ext.server.files import TranslatedFile
from headway.ext.server.rejection import Rejection, overloaded

T = TypeVar("T")
DEEPL = "/v2/"  # the addresses of DeepL
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
    """Return a response with a file, which no browser shows as a page."""
    disposition = f"attachment; filename*=UTF-8''{quote(file.name)}"
    headers = {"Content-Disposition": disposition, "Cache-Control": "no-store"}
    return Response(file.data, media_type="application/octet-stream", headers=headers)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(
    work: Coroutine[Any, Any, T], receive: Receive
) -> asyncio.Task[T] | None:
    """Run work until it is done or the client leaves, which cancels the work.

    Returns:
        The finished task, or None if the client left first.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(wait_for_disconnect(receive))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            return None
        task.result()  # raises what the work raised
        return task
    finally:
        for either in (task, leaving):
            either.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


class EventStream:
    """Server-sent events: ``token`` for each part of a text, then ``done``, or ``error``.

    The status is sent with the first event, so that a request that is rejected before keeps the
    status of its rejection. Later the stream ends with an ``error`` event.

    Args:
        send: Of ASGI.
    """

    def __init__(self, send: Send) -> None:
        self.send = send
        self.is_started = False

    async def send_text(self, parts: AsyncGenerator[str, None]) -> None:
        """Send the parts of a text as they come, and then the whole text."""
        text = ""
        async with aclosing(parts):
            async for part in parts:
                if part:
                    text += part
                    await self._send_event("token", {"text": part})
        await self._send_event("done", {"translatedText": text}, is_last=True)

    async def send_error(self, message: str) -> None:
        """Send why the stream ends."""
        await self._send_event("error", {"error": message}, is_last=True)

    async def _send_event(
        self, name: str, values: Mapping[str, str], is_last: bool = False
    ) -> None:
        if not self.is_started:
            self.is_started = True
            headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            head = Response(headers=headers, media_type="text/event-stream")
            del head.headers["content-length"]
            start = {"type": "http.response.start", "status": 200, "headers": head.raw_headers}
            await self.send(start)
        body = b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(values))
        await self.send({"type": "http.response.body", "body": body, "more_body": not is_last})
