"""The server as an ASGI application: what surrounds its handlers.

A request passes the checks that need no body, is admitted (`admission.py`), is made of its fields, and is handled until its
answer is there or its client has left. Headers, metrics and a line of the log come with each answer.
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.ext.server.admission import is_work
from headway.ext.server.answers import (
    DEEPL,
    error_response,
    make_event,
    make_response,
    overload_response,
    run_while_connected,
    send_parts,
)
from headway.ext.server.messages import EmptyRequest
from headway.ext.server.openapi import Address
from headway.ext.server.page_files import page_files
from headway.ext.server.rejection import Rejection, reject
from headway.ext.server.routes import list_addresses
from headway.ext.server.server import Context, Server
from headway.ext.server.validation import RequestParser

log = logging.getLogger("headway.ext.server")
PORTION = 1 << 16  # bytes of an answer that a client must take at a time
# Pages of other sites may read what everybody may read; what works is refused to most of them (see `Admission`).
CROSS_ORIGIN = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-expose-headers", b"Retry-After"),
    (b"access-control-max-age", b"1728000"),
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self';"
        b" frame-ancestors 'none'",
    ),
)
LAST = ((b"connection", b"close"),)  # so that no client asks a server that ends


class App:
    """The application. Under overload, a request that works is rejected before it is read.

    The log holds no texts and no keys. It names an address as `Address` does, and unknown ones ``other``. Answers with
    429 share one line a second.

    Args:
        server: What answers.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self._methods: dict[str, dict[str, ASGIApp]] = {}
        for address in list_addresses():
            self._methods.setdefault(address.path, {})[address.method] = _Endpoint(server, address)
        for path, (content, kind) in page_files().items():
            headers = {"Cache-Control": "no-cache"}
            self._methods[path] = {"GET": Response(content, media_type=kind, headers=headers)}
        self._patterns = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path)), path)
            for path in self._methods
            if "{" in path
        ]
        self.received = self.answered = 0
        self._rejected = 0  # since the last line about rejections
        self._last_line = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or end the server."""
        if scope["type"] != "http":
            await self._live(receive, send)
            return
        started, status = time.monotonic(), 0
        path, scope["path_params"] = self._find(scope["path"])
        admission, is_deepl = self.server.admission, scope["path"].startswith(DEEPL)
        is_shared = not is_deepl or admission.names_site(scope)
        added = [*HEADERS, *CROSS_ORIGIN * is_shared, *LAST * admission.is_stopping]
        self.received += 1

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", []), *added]}
            body = message.get("body", b"")
            if len(body) <= PORTION:
                await send(message)
                return
            for start in range(0, len(body), PORTION):
                # A client that does not read must not keep what it has asked for in memory.
                end = start + PORTION
                more = message.get("more_body", False) or end < len(body)
                async with asyncio.timeout(self.server.config.idle_seconds):
                    await send({**message, "body": body[start:end], "more_body": more})

        async def answer(response: ASGIApp) -> None:
            await response(scope, receive, send_with_headers)

        try:
            if is_work(scope) and (seconds := admission.retry_after()):
                await answer(overload_response(is_deepl, seconds))
                return
            admission.check(scope)
            is_asked = scope["method"] == "OPTIONS"
            await answer(Response() if is_asked else self._choose(path, scope["method"]))
        except TimeoutError:
            log.info("a client does not read its answer")
            raise  # so that the connection is closed
        except Exception as error:
            rejection = reject(error)
            if not status:
                await answer(error_response(scope["path"], rejection))
            else:
                await send(make_event("error", {"error": rejection.message}))
        finally:
            self.answered += bool(status)
            self._record(scope["method"], path, status, time.monotonic() - started)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Say that the server has started, and end it when it is to stop."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.server.close()
        log.info("stopped: received %d requests, answered %d", self.received, self.answered)
        await send({"type": "lifespan.shutdown.complete"})

    def _find(self, path: str) -> tuple[str, dict[str, str]]:
        """Return the path of an address, and its parameters; of an unknown address ``other``."""
        if path in self._methods and "{" not in path:
            return path, {}
        for pattern, name in self._patterns:
            if found := pattern.fullmatch(path):
                return name, found.groupdict()
        return "other", {}

    def _choose(self, path: str, method: str) -> ASGIApp:
        methods = self._methods.get(path)
        if methods is None:
            raise Rejection(404, "Not Found")
        found = methods.get("GET" if method == "HEAD" else method)
        if found is None:
            allowed = {*methods, *(["HEAD"] if "GET" in methods else [])}
            raise Rejection(405, "Method Not Allowed", {"Allow": ", ".join(sorted(allowed))})
        return found

    def _record(self, method: str, path: str, status: int, seconds: float) -> None:
        count, measure = self.server.metrics.of_request(path, status)
        count.inc()
        measure.observe(seconds)
        if status != 429:
            log.info("%s %s %d %.1f ms", method[:10], path, status, 1000 * seconds)
            return
        self._rejected += 1
        now = time.monotonic()
        if now > self._last_line + 1:
            log.info("%d requests answered with 429", self._rejected)
            self._rejected, self._last_line = 0, now


class _Endpoint:
    """Answers the requests to an address.

    Args:
        server: What answers.
        address: The address.
    """

    def __init__(self, server: Server, address: Address) -> None:
        self.server, self.address = server, address
        self.parser: RequestParser[Any] = RequestParser(
            address.request or EmptyRequest, server.config
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            Rejection: If the request is rejected before anything was sent.
        """
        http = Request(scope, receive)
        if self.address.is_open:
            found = await self.address.handler(Context(self.server, http))
            await make_response(found)(scope, receive, send)
            return
        async with self.server.admission.admit(http, self.parser) as (client, request):
            given = [] if self.address.request is None else [request]
            work = self.address.handler(*given, Context(self.server, http, client))
            response = await run_while_connected(_run(work, send), receive)
        if response is not None:
            await response(scope, receive, send)


async def _run(work: Coroutine[Any, Any, Any], send: Send) -> Response | None:
    """Return the response with what a handler returns; of a text that comes in parts the answer is sent, and there is none."""
    found = await work
    if isinstance(found, AsyncGenerator):
        await send_parts(found, send)
        return None
    return make_response(found)
