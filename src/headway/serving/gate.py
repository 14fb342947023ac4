"""Around every request: headers on each answer, measurements, a log line without texts or keys."""

import logging
import math
import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.serving.answers import answer_json
from headway.serving.batcher import SHARE
from headway.serving.metrics import Metrics
from headway.serving.refusal import busy

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
ALWAYS = 64  # requests at a time that are let in whatever they may wait


class Gate:
    """Around everything: headers on each answer, measurements, a log line without texts or keys.

    Args:
        app: What answers.
        metrics: Told about each answer.
        paths: Those that are served; all others are counted as one.
        deadline: Seconds; who would wait for more than half of them is refused at once, before
            anything is read, so that refusing does not take the time that answering needs.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str], deadline: float) -> None:
        self.app, self.metrics, self.paths, self.deadline = app, metrics, paths, deadline
        self.posts = 0  # being answered
        # Recent answers, and the seconds they took by the clock while others waited.
        self.done = self.busy = 0.0
        self.ended: float | None = None
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

        posted = scope["method"] == "POST"
        try:
            if scope["method"] == "OPTIONS":
                await Response(status_code=200)(scope, receive, answer)
            elif posted and self.posts >= ALWAYS and self.wait() > SHARE * self.deadline:
                posted = False
                self.metrics.count("headway_rejected_total")
                full = busy(max(1, min(60, math.ceil(self.wait()))))
                await answer_json({"error": full.message}, 429, full.headers)(
                    scope, receive, answer
                )
            else:
                self.posts += posted
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
            if posted:
                self.end(status, time.monotonic() - started)
            seconds = time.monotonic() - started
            self.counted[1] += bool(status)
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.count(
                "headway_requests_total", 1, (("endpoint", path), ("status", str(status)))
            )
            self.metrics.observe("headway_request_seconds", seconds, (("endpoint", path),))
            log.info("%s %s %d %.1f ms", scope["method"][:10], path, status, 1000 * seconds)

    def wait(self) -> float:
        """Return how many seconds a request that comes now is likely to take."""
        return self.posts * self.busy / self.done if self.done else 0.0

    def end(self, status: int, seconds: float) -> None:
        """Learn from a request that has ended how fast they are answered."""
        self.posts -= 1
        now = time.monotonic()
        if status == 200:
            took = seconds if self.ended is None else now - self.ended
            self.done, self.busy = 0.95 * self.done + 1, 0.95 * self.busy + took
            self.ended = now
        if not self.posts:
            self.ended = None
