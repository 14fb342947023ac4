"""The answers of the server: JSON, and streams of events; work stops when the client leaves."""

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headway.errors import HeadwayError
from headway.serving.rejection import Rejection

T = TypeVar("T")


def json_response(
    values: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with a JSON body."""
    content = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, media_type="application/json")


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

    Args:
        parts: The parts; closed when the client leaves or the deadline passes.
        deadline: Seconds.
    """

    media_type = "text/event-stream"

    def __init__(self, parts: AsyncGenerator[str, None], deadline: float) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.parts, self.deadline = parts, deadline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they come."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await run_while_connected(self._send_events(send), receive)

    async def _send_events(self, send: Send) -> None:
        async def send_event(name: str, values: Mapping[str, str], is_last: bool = False) -> None:
            text = f"event: {name}\ndata: {json.dumps(values, ensure_ascii=False)}\n\n"
            body = text.encode("utf-8", "replace")
            await send({"type": "http.response.body", "body": body, "more_body": not is_last})

        text = ""
        try:
            async with asyncio.timeout(self.deadline), aclosing(self.parts) as parts:
                async for part in parts:
                    if part:
                        text += part
                        await send_event("token", {"text": part})
        except TimeoutError:
            message = f"This took more than {self.deadline:g} seconds"
        except Rejection as error:
            message = error.message
        except HeadwayError as error:
            message = str(error).splitlines()[0]
        else:
            await send_event("done", {"translatedText": text}, is_last=True)
            return
        await send_event("error", {"error": message}, is_last=True)
