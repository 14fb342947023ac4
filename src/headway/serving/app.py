"""The server as an ASGI application: addresses, error answers, and the wiring of its parts."""

import hmac
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headway.config import ServerConfig
from headway.serving import routes
from headway.serving.admission import Admission
from headway.serving.answers import EventStream, json_response, run_while_connected
from headway.serving.clients import Keys
from headway.serving.messages import StreamRequest
from headway.serving.metrics import Metrics
from headway.serving.middleware import ServerMiddleware
from headway.serving.models import Models
from headway.serving.openapi import Handler, OpenAPI
from headway.serving.page import page_files
from headway.serving.queue import TranslationQueue
from headway.serving.rejection import CLIENT_LEFT, Rejection
from headway.serving.routes import Context
from headway.serving.validation import RequestParser

log = logging.getLogger("headway.serving")
Endpoint = Callable[[Request], Awaitable[Response]]
POSTS: dict[str, Handler] = {
    "/translate": routes.translate,
    "/detect": routes.detect,
    "/align": routes.align,
    "/attention": routes.attention,
}
GETS: dict[str, Handler] = {
    "/languages": routes.languages,
    "/frontend/settings": routes.frontend_settings,
    "/health": routes.health,
}
DISABLED = {
    "/translate_file": "Files translation are disabled on this server.",
    "/suggest": "Suggestions are disabled on this server.",
}
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass
class Server:
    """The parts of a server.

    Attributes:
        models: A reload replaces the whole object.
        config: Limits and times.
        keys: The valid API keys; None: everybody may send requests.
        workers: Threads that translate.
    """

    models: Models
    config: ServerConfig = field(default_factory=ServerConfig)
    keys: Keys | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        self.queue = TranslationQueue(self.workers, self.config, self.metrics)
        self.admission = Admission(self.config, self.keys, self.queue, self.metrics)
        add_gauge = self.metrics.add_gauge
        add_gauge("headway_queue_tokens", "Source tokens waiting.", lambda: self.queue.tokens)
        add_gauge(
            "headway_queue_texts", "Texts waiting or being translated.", lambda: self.queue.texts
        )
        add_gauge(
            "headway_pending_requests",
            "Requests without an answer.",
            lambda: self.admission.pending,
        )

    @property
    def context(self) -> Context:
        """What the handlers of a request work with."""
        return Context(self.models, self.queue, self.config, self.keys is not None)


def make_app(server: Server) -> ServerMiddleware:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await server.queue.close()
        log.info("stopped: %d requests came, %d were answered", app.received, app.answered)

    table = [
        *(_route(path, _post(server, handler), "POST") for path, handler in POSTS.items()),
        *(_route(path, _get(server, handler), "GET") for path, handler in GETS.items()),
        *(_route(path, _reject(message), "POST") for path, message in DISABLED.items()),
        *(_route(path, _file(*file), "GET") for path, file in page_files().items()),
        _route("/stream", _stream(server), "POST"),
        _route("/spec", _spec(server), "GET"),
        _route("/metrics", _metrics(server), "GET"),
    ]
    starlette = Starlette(
        routes=table,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: _answer_http_error,
            Rejection: _answer_rejection,
            Exception: _answer_own_error,
        },
    )
    starlette.router.redirect_slashes = False
    paths = {route.path for route in table}
    app = ServerMiddleware(starlette, server.admission, server.metrics, paths)
    return app


def describe(server: Server) -> dict[str, Any]:
    """Return the OpenAPI description, with the languages and limits of this server."""
    api = OpenAPI(server.models.codes, server.config, server.keys is not None)
    for path, handler in POSTS.items():
        api.add_post(path, handler)
    api.add_post("/stream", routes.stream, "text/event-stream")
    for path, handler in GETS.items():
        api.add_get(path, handler)
    api.add_get("/metrics", _metrics(server), METRICS_TYPE.partition(";")[0])
    api.add_get("/spec", describe)
    api.add_disabled("/translate_file", "Files are not translated.")
    api.add_disabled("/suggest", "Suggestions are not taken.")
    return api.to_dict()


def _route(path: str, endpoint: Endpoint, method: str) -> Route:
    return Route("/" + path.lstrip("/"), endpoint, methods=[method])


def _post(server: Server, handler: Handler) -> Endpoint:
    parser = RequestParser(next(iter(get_type_hints(handler).values())), server.config)

    async def post(request: Request) -> Response:
        async with server.admission.admit(request) as fields:
            work = handler(parser.parse(fields), server.context)
            task = await run_while_connected(work, request.receive)
        return Response(status_code=CLIENT_LEFT) if task is None else json_response(task.result())

    return post


def _stream(server: Server) -> Endpoint:
    parser = RequestParser(StreamRequest, server.config)

    @asynccontextmanager
    async def admit(request: Request) -> AsyncIterator[AsyncGenerator[str, None]]:
        async with server.admission.admit(request) as fields:
            parts = await routes.stream(parser.parse(fields), server.context)
            async with aclosing(parts):
                yield parts

    async def stream(request: Request) -> Response:
        return EventStream(admit(request))

    return stream


def _get(server: Server, handler: Handler) -> Endpoint:
    async def get(request: Request) -> Response:
        return json_response(handler(server.context))

    return get


def _spec(server: Server) -> Endpoint:
    async def spec(request: Request) -> Response:
        return json_response(describe(server))

    return spec


def _metrics(server: Server) -> Endpoint:
    async def metrics(request: Request) -> Response:
        """Return counters for Prometheus."""
        token = server.config.metrics_token
        given = request.headers.get("authorization", "").encode()
        if token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            raise Rejection(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})
        return Response(server.metrics.to_text(), media_type=METRICS_TYPE)

    return metrics


def _reject(message: str) -> Endpoint:
    async def reject(request: Request) -> Response:
        raise Rejection(403, message)

    return reject


def _file(content: bytes, media_type: str) -> Endpoint:
    async def get(request: Request) -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return get


async def _answer_rejection(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Rejection)
    return json_response({"error": error.message}, error.status, error.headers)


async def _answer_own_error(_request: Request, _error: Exception) -> Response:
    return json_response({"error": "Internal Server Error"}, 500)


async def _answer_http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return json_response({"error": error.detail}, error.status_code, dict(error.headers or {}))
