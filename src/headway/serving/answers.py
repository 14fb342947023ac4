"""What goes back to a client: JSON, or events while there is something to tell."""

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headway.errors import HeadwayError
from headway.serving.refusal import Refusal

T = TypeVar("T")


def answer_json(values: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return values as JSON."""
    content = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, media_type="application/json")


async def gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def until_gone(work: Coroutine[Any, Any, T], gone: Coroutine[Any, Any, None]) -> T | None:
    """Return what ``work`` does, or None if the client leaves before it is done."""
    task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone)
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for either in (task, leaving):
            either.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


class Events(Response):
    """Server-sent events: ``token`` for each bit, then ``done``, or ``error``.

    Args:
        bits: Of the translation; closed when the client leaves or the time is over.
        deadline: Seconds.
    """

    media_type = "text/event-stream"

    def __init__(self, bits: AsyncGenerator[str, None], deadline: float) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.bits, self.deadline = bits, deadline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they come."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await until_gone(self.send_all(send), gone(receive))

    async def send_all(self, send: Send) -> None:
        """Send all of them."""

        async def tell(name: str, values: dict[str, Any], more: bool = True) -> None:
            text = f"event: {name}\ndata: {json.dumps(values, ensure_ascii=False)}\n\n"
            body = text.encode("utf-8", "replace")
            await send({"type": "http.response.body", "body": body, "more_body": more})

        text = ""
        try:
            async with asyncio.timeout(self.deadline), aclosing(self.bits) as bits:
                async for bit in bits:
                    if bit:
                        text += bit
                        await tell("token", {"text": bit})
        except TimeoutError:
            message = f"This took more than {self.deadline:g} seconds"
        except Refusal as error:
            message = error.message
        except HeadwayError as error:
            message = str(error).splitlines()[0]
        else:
            await tell("done", {"translatedText": text}, more=False)
            return
        await tell("error", {"error": message}, more=False)
