"""Which requests the server takes on, and what it records about each request."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.config import ServerConfig
from headway.errors import HeadwayError
from headway.serving.answers import json_response
from headway.serving.clients import Keys, RateLimit
from headway.serving.metrics import Metrics
from headway.serving.queue import TranslationQueue
from headway.serving.rejection import Rejection, overloaded
from headway.serving.requests import read_fields

log = logging.getLogger("headway.serving")
HEADERS = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-max-age", b"1728000"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self';"
        b" frame-ancestors 'none'",
    ),
)


class Admission:
    """Admits requests, or rejects them before they cost much.

    Args:
        config: Limits and deadline.
        keys: The valid API keys; None: everybody may send requests.
        queue: The queue of all requests.
        metrics: Counts rejections.
    """

    def __init__(
        self, config: ServerConfig, keys: Keys | None, queue: TranslationQueue, metrics: Metrics
    ) -> None:
        self.config, self.keys, self.queue, self.metrics = config, keys, queue, metrics
        self.rates = RateLimit(config.req_limit)
        self.pending = 0  # requests that were admitted and have no answer yet

    @asynccontextmanager
    async def admit(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Admit a request for the time until its answer, and yield its fields.

        Raises:
            Rejection: 400, 403, 408, 413, 415 or 429 for the request itself; 503 when the deadline
                passes; 500 if a model fails.
        """
        self.pending += 1
        try:
            async with asyncio.timeout(self.config.deadline):
                fields = await read_fields(request, self.config)
                client = request.client.host if request.client else "?"
                if self.keys is not None:
                    client = self.keys.check(fields.get("api_key"))
                q = fields.get("q")
                self.rates.take(client, max(1, len(q)) if isinstance(q, list) else 1)
                yield fields
        except TimeoutError:
            message = f"This took more than {self.config.deadline:g} seconds"
            raise Rejection(503, message, {"Retry-After": "10"}) from None
        except HeadwayError as error:
            log.error("cannot translate: %s", error)
            raise Rejection(500, str(error).splitlines()[0]) from None
        finally:
            self.pending -= 1

    def check_load(self) -> None:
        """Reject a request, of which nothing has been read, if the server is overloaded.

        Raises:
            Rejection: 429.
        """
        self.queue.check_room()
        # A request holds at least one text: the queue is full when as many requests have been read.
        if self.pending >= self.config.queue_texts:
            self.metrics.rejected.inc()
            raise overloaded(max(1, min(60, round(self.queue.expected_seconds()))))


class AdmissionMiddleware:
    """Wraps the application: overload, and headers, metrics and a log line for each answer.

    Under overload a request is rejected before the application sees it. The log holds no texts and
    no keys. Answers with 429 share one line a second.

    Args:
        app: The application.
        admission: Knows whether the server is overloaded.
        metrics: Counts answers.
        paths: The addresses that are served; all others count as ``other``.
    """

    def __init__(
        self, app: ASGIApp, admission: Admission, metrics: Metrics, paths: set[str]
    ) -> None:
        self.app, self.admission, self.metrics, self.paths = app, admission, metrics, paths
        self.received = self.answered = 0
        self._rejected = 0  # since the last line about rejections
        self._last_line = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.monotonic(), 0
        self.received += 1

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        try:
            if scope["method"] == "OPTIONS":
                await Response(status_code=200)(scope, receive, send_with_headers)
            else:
                if scope["method"] == "POST":
                    self.admission.check_load()
                await self.app(scope, receive, send_with_headers)
        except Rejection as error:  # the application answers its own
            rejected = json_response({"error": error.message}, error.status, error.headers)
            await rejected(scope, receive, send_with_headers)
        except Exception as error:
            # The message of the exception may hold a text: the log gets its type and place.
            log.error("%s at %s", type(error).__name__, _place(error))
            if not status:
                failed = json_response({"error": "Internal Server Error"}, 500)
                await failed(scope, receive, send_with_headers)
        finally:
            self.answered += bool(status)
            self._record(scope, status, time.monotonic() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self.paths else "other"
        self.metrics.requests.labels(path, str(status)).inc()
        self.metrics.request_seconds.labels(path).observe(seconds)
        if status != 429:
            log.info("%s %s %d %.1f ms", scope["method"][:10], path, status, 1000 * seconds)
            return
        self._rejected += 1
        now = time.monotonic()
        if now > self._last_line + 1:
            log.info("%d requests rejected: too many at once", self._rejected)
            self._rejected, self._last_line = 0, now


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
