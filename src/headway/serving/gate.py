"""Around every request: headers on each answer, measurements, a log line without texts or keys."""

import json
import logging
import math
import re
import time
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.serving.answers import answer_json
from headway.serving.batcher import SHARE, Batcher
from headway.serving.metrics import Metrics
from headway.serving.refusal import Refusal, busy

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
# The head of a request as everybody writes it: each line a name, a colon and a value.
PLAIN = re.compile(
    rb"POST /[!-~]* HTTP/1\.[01]\r\n"
    rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~\x80-\xff]*+\r\n)++\r\n"
)
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n")
POST = b"POST "  # how what is counted and refused begins
HEADER = 8192  # bytes in which the end of a header is looked for when there is no time


class Gate:
    """Around everything: headers on each answer, measurements, a log line without texts or keys.

    Args:
        app: What answers.
        metrics: Told about each answer.
        paths: Those that are served; all others are counted as one.
        batcher: Where requests wait.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str], batcher: Batcher) -> None:
        self.app, self.metrics, self.paths, self.batcher = app, metrics, paths, batcher
        self.deadline = batcher.limits.deadline
        self.posts = 0  # being answered
        self.coming = 0  # connections let in whose first request, a POST, is about to be read
        # Recent answers, and the seconds they took by the clock while others waited.
        self.done = self.busy = 0.0
        self.ended: float | None = None
        self.counted = [0, 0]  # requests that came, and that were answered or whose client left
        self.refusals: dict[tuple[int, bool], bytes] = {}
        self.turned = 0  # turned away since the log said so
        self.told = -math.inf
        self.filled = -math.inf  # when there was last no time for one more

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
            elif posted and self.full():
                posted = False
                full = self.refuse()
                await answer_json({"error": full.message}, full.status, full.headers)(
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
        return (self.posts + self.coming) * self.busy / self.done if self.done else 0.0

    def full(self) -> bool:
        """Whether one more request would wait for more than half of its time."""
        coming = self.coming
        return self.posts + coming >= ALWAYS and (
            self.batcher.texts + coming >= self.batcher.limits.queue_texts
            or self.wait() > SHARE * self.deadline
        )

    def refuse(self) -> Refusal:
        """Count a refusal and return it."""
        self.metrics.count("headway_rejected_total")
        return busy(max(1, min(60, math.ceil(self.wait()))))

    def crowd(self) -> bool:
        """Whether requests have been turned away for lack of time within a second."""
        return time.monotonic() < self.filled + 1

    def pace(self, seconds: float) -> int:
        """Return how many requests to let in meanwhile: somewhat more than are answered."""
        return 1 + int(1.5 * seconds * self.done / self.busy) if self.busy else ALWAYS

    def turn_away(
        self, data: bytes, last: bool = False, at_once: bool = False
    ) -> tuple[bytes, bool] | None:
        """Refuse a request by its bytes alone, if there is no time for it.

        At ten times the load that can be served nine of ten requests are refused. To read each as
        one that is answered would take the time that answering needs, and refusals would be late.

        Args:
            data: What a client has sent since the last answer.
            last: Whether the connection ends in any case.
            at_once: Refuse it even if there would be time.

        Returns:
            The answer, and whether it ends the connection; None if there is time, or if this is not
            plainly one whole POST: then it is read as any other, and by one parser only is it said
            where a request ends.
        """
        if not at_once:
            if not self.full():
                return None
            self.filled = time.monotonic()
        end = data.find(b"\r\n\r\n", 0, HEADER) + 4
        if not PLAIN.fullmatch(data, 0, end):
            return None
        head = data[:end].lower()
        length = LENGTH.search(head)
        if length is None or len(data) != end + int(length[1]):
            return None
        if head.count(b"\r\ncontent-length:") > 1:
            return None
        if b"\r\ntransfer-encoding" in head or b"\r\nexpect" in head:
            return None
        refused = self.refuse()
        first = head[: head.index(b"\r\n")]
        last = last or first.endswith(b"1.0") or b"\r\nconnection: close\r\n" in head
        kind = int(refused.headers["Retry-After"]), last
        if kind not in self.refusals:
            self.refusals[kind] = raw(refused, last)
        path = data[5 : data.find(b" ", 5, end)].partition(b"?")[0].decode("latin-1")
        self.metrics.count(
            "headway_requests_total",
            1,
            (("endpoint", path if path in self.paths else "other"), ("status", "429")),
        )
        self.counted[0] += 1
        self.counted[1] += 1
        self.turned += 1
        now = time.monotonic()
        if now > self.told + 1:
            log.info("%d requests refused: too many at once", self.turned)
            self.turned, self.told = 0, now
        return self.refusals[kind], last

    def end(self, status: int, seconds: float) -> None:
        """Learn from a request that has ended how fast they are answered."""
        self.posts -= 1
        now = time.monotonic()
        if self.posts < ALWAYS // 2:  # how often they come, not how fast they are answered
            self.ended = None
        elif status == 200:
            if self.ended is not None:
                # Answers of a batch come together: what counts is time, not the last few answers.
                took = now - self.ended
                kept = math.exp(-took / (SHARE * self.deadline))
                self.done, self.busy = kept * self.done + 1, kept * self.busy + took
            self.ended = now


def raw(refusal: Refusal, last: bool) -> bytes:
    """Return the bytes of an answer that refuses, and may end its connection."""
    body = json.dumps({"error": refusal.message}).encode()
    fields = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    fields += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    fields += [(b"connection", b"close")] * last
    first = f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}\r\n".encode()
    return first + b"".join(b"%s: %s\r\n" % field for field in (*fields, *CORS)) + b"\r\n" + body
