"""The answers of the server: JSON, and streams of events; work stops when the client leaves."""

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headway.ext.server.file_store import TranslatedFile
from headway.ext.server.rejection import CLIENT_LEFT, FAILED, Rejection

T = TypeVar("T")
DEEPL = "/v2/"  # the addresses of DeepL


def json_response(
    values: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with a JSON body."""
    content = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, media_type="application/json")


def error_response(path: str, error: Rejection) -> Response:
    """Return the answer to a rejected request; DeepL's clients read ``message``, all others ``error``."""
    name = "message" if path.startswith(DEEPL) else "error"
    return json_response({name: error.message}, error.status, error.headers)


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


class EventStream(Response):
    """Server-sent events: ``token`` for each part of a text, then ``done``, or ``error``.

    The status is sent with the first part, so that a request that is rejected before keeps the
    status of its rejection. Later the stream ends with an ``error`` event.

    Args:
        admitted: Admits the request and gives the parts. It is left when the stream ends, so that
            the request counts as pending, and has one deadline, from its beginning to its end.
    """

    media_type = "text/event-stream"

    def __init__(self, admitted: AbstractAsyncContextManager[AsyncGenerator[str, None]]) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.admitted = admitted
        self.is_started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they come.

        Raises:
            Rejection: If the request is rejected before the first part.
        """
        try:
            async with self.admitted as parts:
                task = await run_while_connected(self._send_parts(parts, send), receive)
        except Rejection as error:
            if not self.is_started:
                raise
            await self._send_event(send, "error", {"error": error.message}, is_last=True)
        except Exception:  # of a model: the log names it
            if self.is_started:
                await self._send_event(send, "error", {"error": FAILED}, is_last=True)
            raise
        else:
            if task is None and not self.is_started:
                await Response(status_code=CLIENT_LEFT)(scope, receive, send)

    async def _send_parts(self, parts: AsyncGenerator[str, None], send: Send) -> None:
        text = ""
        async for part in parts:
            if part:
                text += part
                await self._send_event(send, "token", {"text": part})
        await self._send_event(send, "done", {"translatedText": text}, is_last=True)

    async def _send_event(
        self, send: Send, name: str, values: Mapping[str, str], is_last: bool = False
    ) -> None:
        if not self.is_started:
            self.is_started = True
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        text = f"event: {name}\ndata: {json.dumps(values, ensure_ascii=False)}\n\n"
        body = text.encode("utf-8", "replace")
        await send({"type": "http.response.body", "body": body, "more_body": not is_last})
