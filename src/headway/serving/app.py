"""The server as an ASGI application: addresses, limits, errors, headers, logs."""

import asyncio
import hmac
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.errors import HeadwayError
from headway.serving import endpoints
from headway.serving.batcher import Batcher, until_gone
from headway.serving.clients import Keys, Rates
from headway.serving.endpoints import Asked
from headway.serving.interpreter import Interpreter
from headway.serving.metrics import Metrics
from headway.serving.models import Models
from headway.serving.refusal import Refusal
from headway.serving.requests import read_fields
from headway.serving.settings import ServerConfig
from headway.serving.spec import specification

log = logging.getLogger("headway.serving")
Endpoint = Callable[[Asked], Awaitable[Any]]
CORS = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-max-age", b"1728000"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self';"
        b" frame-ancestors 'none'",
    ),
)
HINT = (
    "Headway translates here. POST /translate with q, source and target; GET /languages lists the"
    " languages; GET /spec describes everything.\n"
)
CLOSED = 499  # for the log: the client left


@dataclass
class Server:
    """What the endpoints share.

    Attributes:
        models: Replaced as a whole when models are read again.
        limits: What clients may do.
        keys: Who may ask; None: everybody.
        workers: Threads that translate.
    """

    models: Models
    limits: ServerConfig = field(default_factory=ServerConfig)
    keys: Keys | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        self.rates = Rates(self.limits.req_limit)
        self.batcher = Batcher(self.workers, self.limits, self.metrics)
        self.metrics.gauges["headway_queue_tokens"] = lambda: self.batcher.tokens
        self.metrics.gauges["headway_queue_requests"] = lambda: self.batcher.requests

    async def asked(self, request: Request) -> Asked:
        """Read a request and let its client in.

        Raises:
            Refusal: If it is malformed, too large, one too many, or without a key.
        """
        fields, typed = await read_fields(request, self.limits)
        client = request.client.host if request.client else "?"
        if self.keys is not None:
            client = self.keys.check(fields.get("api_key"))
        q = fields.get("q")
        self.rates.take(client, max(1, len(q)) if isinstance(q, list) else 1)
        models = self.models
        interpreter = Interpreter(models, self.batcher, self.limits.split_sentences)
        return Asked(fields, typed, models, interpreter, self.limits)


def make_app(server: Server) -> ASGIApp:
    """Return the application."""

    def posted(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            async with deadline(server):
                asked = await server.asked(request)
                found = await until_gone(wrapped(endpoint(asked)), gone(request.receive))
            return Response(status_code=CLOSED) if found is None else answer_json(found[0])

        return answer

    async def stream(request: Request) -> Response:
        async with deadline(server):
            asked = await server.asked(request)
            bits = await endpoints.stream(asked)
        return Events(bits, server.limits.deadline)

    def told(answer: Callable[[], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            return answer_json(answer())

        return get

    async def metrics(request: Request) -> Response:
        wanted = f"Bearer {server.limits.metrics_token}".encode()
        given = request.headers.get("authorization", "").encode()
        if server.limits.metrics_token and not hmac.compare_digest(given, wanted):
            raise Refusal(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})
        return PlainTextResponse(
            server.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    def refused(message: str) -> Callable[[Request], Awaitable[Response]]:
        async def refuse(request: Request) -> Response:
            raise Refusal(403, message)

        return refuse

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await server.batcher.close()

    routes = [
        Route("/translate", posted(endpoints.translate), methods=["POST"]),
        Route("/detect", posted(endpoints.detect), methods=["POST"]),
        Route("/align", posted(endpoints.align), methods=["POST"]),
        Route("/attention", posted(endpoints.attention), methods=["POST"]),
        Route("/stream", stream, methods=["POST"]),
        Route("/languages", told(lambda: endpoints.languages(server.models)), methods=["GET"]),
        Route(
            "/frontend/settings",
            told(lambda: endpoints.frontend_settings(server.models, server.limits, server.keys)),
            methods=["GET"],
        ),
        Route("/health", told(lambda: {"status": "ok"}), methods=["GET"]),
        Route(
            "/spec",
            told(
                lambda: specification(server.models.codes, server.limits, server.keys is not None)
            ),
            methods=["GET"],
        ),
        Route("/metrics", metrics, methods=["GET"]),
        Route(
            "/translate_file",
            refused("Files translation are disabled on this server."),
            methods=["POST"],
        ),
        Route("/suggest", refused("Suggestions are disabled on this server."), methods=["POST"]),
        *pages(),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: http_error, Refusal: refusal},
    )
    app.router.redirect_slashes = False
    return Gate(app, server.metrics, {route.path for route in routes})


def pages() -> list[Route]:
    """Return the routes of the page and its files, or of a hint if there is none."""
    try:
        from headway.serving.page import page_files
    except ImportError:

        async def hint(request: Request) -> Response:
            return PlainTextResponse(HINT)

        return [Route("/", hint, methods=["GET"])]

    def file(content: bytes, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

        return get

    return [
        Route("/" + path.lstrip("/"), file(content, kind), methods=["GET"])
        for path, (content, kind) in page_files().items()
    ]


@asynccontextmanager
async def deadline(server: Server) -> AsyncIterator[None]:
    """Give a request so long, and turn what goes wrong in the models into an answer."""
    try:
        async with asyncio.timeout(server.limits.deadline):
            yield
    except TimeoutError:
        raise Refusal(
            503, f"This took more than {server.limits.deadline:g} seconds", {"Retry-After": "10"}
        ) from None
    except HeadwayError as error:
        log.error("cannot translate: %s", error)
        raise Refusal(500, str(error).splitlines()[0]) from None


async def wrapped(work: Awaitable[Any]) -> tuple[Any]:
    """Return an answer in a tuple, so that it is never None."""
    return (await work,)


async def gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


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


def answer_json(values: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return values as JSON."""
    content = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, headers, media_type="application/json")


async def refusal(_request: Request, error: Exception) -> Response:
    """Answer with a `Refusal`."""
    assert isinstance(error, Refusal)
    return answer_json({"error": error.message}, error.status, error.headers)


async def http_error(_request: Request, error: Exception) -> Response:
    """Answer an address or method that is not served."""
    assert isinstance(error, HTTPException)
    return answer_json({"error": error.detail}, error.status_code, dict(error.headers or {}))


class Gate:
    """Around everything: headers on each answer, measurements, a log line without texts or keys.

    Args:
        app: What answers.
        metrics: Told about each answer.
        paths: Those that are served; all others are counted as one.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *CORS]
            await send(message)

        try:
            if scope["method"] == "OPTIONS":
                await Response(status_code=200)(scope, receive, answer)
            else:
                await self.app(scope, receive, answer)
        except Exception as error:
            # Its words may hold a text: only its kind and place are told.
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else "?"
            log.error("%s at %s", type(error).__name__, where)
            if not status:
                failed = answer_json({"error": "Internal Server Error"}, 500)
                await failed(scope, receive, answer)
        finally:
            seconds = time.monotonic() - started
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.count(
                "headway_requests_total", 1, (("endpoint", path), ("status", str(status)))
            )
            self.metrics.observe("headway_request_seconds", seconds, (("endpoint", path),))
            log.info("%s %s %d %.1f ms", scope["method"][:10], path, status, 1000 * seconds)
