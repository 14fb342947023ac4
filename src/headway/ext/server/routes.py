"""The addresses of the server, and which handler answers each; `/spec` describes them."""

import hmac
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, get_type_hints
from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headway.ext.server import handlers
from headway.ext.server.answers import (
    EventStream,
    file_response,
    json_response,
    run_while_connected,
)
from headway.ext.server.deepl.language_codes import list_sources, list_targets
from headway.ext.server.deepl.routes import deepl_routes, describe_deepl
from headway.ext.server.keys import read_authorization
from headway.ext.server.messages import Event, FileRequest, StreamRequest
from headway.ext.server.models import Models
from headway.ext.server.openapi import GONE, REJECTIONS, Handler, OpenAPI
from headway.ext.server.page_files import page_files
from headway.ext.server.rejection import CLIENT_LEFT, Rejection
from headway.ext.server.schemas import Schemas
from headway.ext.server.server import Server
from headway.ext.server.validation import RequestParser

Endpoint = Callable[[Request], Awaitable[Response]]
POSTS: dict[str, Handler] = {
    "/translate": handlers.translate,
    "/detect": handlers.detect,
    "/align": handlers.align,
    "/attention": handlers.attention,
}
GETS: dict[str, Handler] = {
    "/languages": handlers.languages,
    "/frontend/settings": handlers.frontend_settings,
    "/health": handlers.health,
}
DISABLED = {
    "/suggest": "Suggestions are disabled on this server.",
}
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def make_routes(server: Server) -> list[Route]:
    """Return all routes of a server."""
    return [
        *(_route(path, _post(server, handler), "POST") for path, handler in POSTS.items()),
        # OmegaT asks by GET, with the fields in the query string.
        _route("/translate", _post(server, handlers.translate), "GET"),
        *(_route(path, _get(server, handler), "GET") for path, handler in GETS.items()),
        *(_route(path, _reject(message), "POST") for path, message in DISABLED.items()),
        *(_route(path, _file(*file), "GET") for path, file in page_files().items()),
        _route("/stream", _stream(server), "POST"),
        _route("/translate_file", _translate_file(server), "POST"),
        _route("/download_file/{name}", _download(server), "GET"),
        _route("/spec", _spec(server), "GET"),
        _route("/metrics", _metrics(server), "GET"),
        *deepl_routes(server),
    ]


def describe(server: Server) -> dict[str, Any]:
    """Return the OpenAPI description, with the languages and limits of this server."""
    codes = server.models.codes
    choices = {
        "source": ["auto", *codes],
        "target": codes,
        "source_lang": [each["language"] for each in list_sources(server.models)],
        "target_lang": [each["language"] for each in list_targets(server.models)],
    }
    api = OpenAPI(Schemas(choices, server.config), server.keys is not None)
    for path, handler in POSTS.items():
        api.add("post", path, handler)
    api.add("get", "/translate", handlers.translate, rejections=REJECTIONS)
    too_long = {"description": "The address has too many bytes; the HTTP server says so itself."}
    api.paths["/translate"]["get"]["responses"]["431"] = too_long
    api.add("post", "/stream", handlers.stream, answer=Event)
    for path, handler in GETS.items():
        api.add("get", path, handler)
    api.add("get", "/metrics", _metrics(server), answer=str)
    api.add("get", "/spec", describe)
    api.add("post", "/translate_file", handlers.translate_file)
    api.add("get", "/download_file/{name}", _download(server), answer=bytes, rejections=GONE)
    api.add_disabled("/suggest", "Suggestions are not taken.")
    describe_deepl(api)
    return api.to_dict()


def _route(path: str, endpoint: Endpoint, method: str) -> Route:
    return Route("/" + path.lstrip("/"), endpoint, methods=[method])


def _post(server: Server, handler: Handler) -> Endpoint:
    parser = RequestParser(next(iter(get_type_hints(handler).values())), server.config)

    async def post(request: Request) -> Response:
        async with server.admission.admit(request) as (_, fields):
            work = handler(parser.parse(fields), server.context)
            task = await run_while_connected(work, request.receive)
        return Response(status_code=CLIENT_LEFT) if task is None else json_response(task.result())

    return post


def _translate_file(server: Server) -> Endpoint:
    parser = RequestParser(FileRequest, server.config)

    async def post(request: Request) -> Response:
        async with server.admission.admit(request, has_file=True) as (_, fields):
            work = handlers.translate_file(parser.parse(fields), server.context)
            task = await run_while_connected(work, request.receive)
        if task is None:
            return Response(status_code=CLIENT_LEFT)
        answer = task.result()
        answer["translatedFileUrl"] = f"{request.base_url}{answer['translatedFileUrl']}"
        if "qualityUrl" in answer:
            answer["qualityUrl"] = f"{request.base_url}{answer['qualityUrl']}"
        return json_response(answer)

    return post


def _download(server: Server) -> Endpoint:
    async def download(request: Request) -> Response:
        """Return a translated file."""
        return file_response(server.files.find(request.path_params["name"]))

    return download


def _stream(server: Server) -> Endpoint:
    parser = RequestParser(StreamRequest, server.config)

    @asynccontextmanager
    async def admit(request: Request) -> AsyncIterator[AsyncGenerator[str, None]]:
        async with server.admission.admit(request) as (_, fields):
            parts = await handlers.stream(parser.parse(fields), server.context)
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
    # It takes longer than most requests, and changes with the models only.
    rendered: WeakKeyDictionary[Models, bytes] = WeakKeyDictionary()

    async def spec(request: Request) -> Response:
        models = server.models
        if models not in rendered:
            rendered[models] = bytes(json_response(describe(server)).body)
        return Response(rendered[models], media_type="application/json")

    return spec


def _metrics(server: Server) -> Endpoint:
    async def metrics(request: Request) -> Response:
        """Return counters for Prometheus."""
        token = server.config.metrics_token
        given = read_authorization(request.headers).encode()
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
