"""The server as an ASGI application: its addresses, and the answers to errors."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from headway.ext.server.answers import error_response
from headway.ext.server.middleware import ServerMiddleware
from headway.ext.server.rejection import FAILED, Rejection
from headway.ext.server.routes import make_routes
from headway.ext.server.server import Server

log = logging.getLogger("headway.ext.server")


def make_app(server: Server) -> ServerMiddleware:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await server.jobs.close()
        server.files.processes.close()
        await server.queue.close()
        log.info("stopped: received %d requests, answered %d", app.received, app.answered)

    routes = make_routes(server)
    starlette = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: _answer_http_error,
            Rejection: _answer_rejection,
            Exception: _answer_own_error,
        },
    )
    starlette.router.redirect_slashes = False
    app = ServerMiddleware(starlette, server.admission, server.metrics, routes)
    return app


async def _answer_rejection(request: Request, error: Exception) -> Response:
    assert isinstance(error, Rejection)
    return error_response(request.url.path, error)


async def _answer_own_error(request: Request, _error: Exception) -> Response:
    return error_response(request.url.path, Rejection(500, FAILED))


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = error.headers
    if error.status_code == 405:
        # An address has one route for each method, and Starlette names that of the first.
        same = (r for r in request.app.routes if r.matches(request.scope)[0] is not Match.NONE)
        headers = {"Allow": ", ".join(sorted(method for route in same for method in route.methods))}
    rejection = Rejection(error.status_code, error.detail, headers)
    return error_response(request.url.path, rejection)
