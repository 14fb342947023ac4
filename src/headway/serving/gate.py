"""Around every request: headers on each answer, measurements, a log line without texts or keys."""

import logging
import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.serving.answers import answer_json
from headway.serving.metrics import Metrics

log = logging.getLogger("headway.serving")
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


class Gate:
    """Around everything: headers on each answer, measurements, a log line without texts or keys.

    Args:
        app: What answers.
        metrics: Told about each answer.
        paths: Those that are served; all others are counted as one.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths
        self.counted = [0, 0]  # requests that came, and that were answered or whose client left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.monotonic(), 0
        self.counted[0] += 1

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
            self.counted[1] += bool(status)
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.count(
                "headway_requests_total", 1, (("endpoint", path), ("status", str(status)))
            )
            self.metrics.observe("headway_request_seconds", seconds, (("endpoint", path),))
            log.info("%s %s %d %.1f ms", scope["method"][:10], path, status, 1000 * seconds)
