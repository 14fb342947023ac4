"""The server as an ASGI application: addresses, limits, errors, headers, logs."""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from headway.errors import HeadwayError
from headway.serving import endpoints
from headway.serving.answers import Events, answer_json, gone, until_gone
from headway.serving.batcher import Batcher
from headway.serving.clients import Keys, Rates
from headway.serving.endpoints import Asked
from headway.serving.gate import Gate
from headway.serving.interpreter import Interpreter
from headway.serving.metrics import Metrics
from headway.serving.models import Models
from headway.serving.refusal import LEFT, Refusal
from headway.serving.requests import read_fields
from headway.serving.settings import ServerConfig
from headway.serving.spec import specification

log = logging.getLogger("headway.serving")
Endpoint = Callable[[Asked], Awaitable[Any]]
HINT = (
    "Headway translates here. POST /translate with q, source and target; GET /languages lists the"
    " languages; GET /spec describes everything.\n"
)


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
        self.metrics.gauges["headway_queue_texts"] = lambda: self.batcher.texts

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
        interpreter = Interpreter(self.batcher, self.limits.split_sentences)
        return Asked(fields, typed, self.models, interpreter, self.limits)


def make_app(server: Server) -> Gate:
    """Return the application."""

    def posted(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            async with deadline(server):
                asked = await server.asked(request)
                found = await until_gone(wrapped(endpoint(asked)), gone(request.receive))
            return Response(status_code=LEFT) if found is None else answer_json(found[0])

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
        log.info("stopped: %d requests came, %d were answered", *gate.counted)

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
        exception_handlers={HTTPException: http_error, Refusal: refusal, Exception: own_error},
    )
    app.router.redirect_slashes = False
    gate = Gate(app, server.metrics, {route.path for route in routes}, server.batcher)
    return gate


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


async def refusal(_request: Request, error: Exception) -> Response:
    """Answer with a `Refusal`."""
    assert isinstance(error, Refusal)
    return answer_json({"error": error.message}, error.status, error.headers)


async def own_error(_request: Request, _error: Exception) -> Response:
    """Answer a mistake of ours; the gate tells its place in the log."""
    return answer_json({"error": "Internal Server Error"}, 500)


async def http_error(_request: Request, error: Exception) -> Response:
    """Answer an address or method that is not served."""
    assert isinstance(error, HTTPException)
    return answer_json({"error": error.detail}, error.status_code, dict(error.headers or {}))
