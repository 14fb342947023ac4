"""What surrounds the application: the check for overload, and headers, metrics and log of each answer."""

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.ext.server.admission import Admission
from headway.ext.server.answers import DEEPL, error_response
from headway.ext.server.metrics import Metrics
from headway.ext.server.rejection import FAILED, Rejection, find_place

log = logging.getLogger("headway.ext.server")
PORTION = 1 << 16  # bytes of an answer that a client must take at a time
# Pages of other sites may read what everybody may read; what works is refused to most of them (see `_check_site`).
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


class ServerMiddleware:
    """Wraps the application: overload, and headers, metrics and a log line for each answer.

    Under overload a request is rejected before the application sees it. The log holds no texts and
    no keys. Answers with 429 share one line a second.

    Args:
        app: The application.
        admission: Knows whether the server is overloaded.
        metrics: Counts answers.
        routes: What is served. Log and metrics name the path of a route, such as ``/v2/document/{document_id}``,
            and ``other`` for all other addresses.
    """

    def __init__(
        self, app: ASGIApp, admission: Admission, metrics: Metrics, routes: Sequence[Route]
    ) -> None:
        self.app, self.admission, self.metrics = app, admission, metrics
        self._fixed = {route.path for route in routes if not route.param_convertors}
        self._open = {route.path_regex: route.path for route in routes if route.param_convertors}
        # Without keys and a proxy, a server on a loopback address is called by loopback names only.
        self._is_private = admission.clients.keys is None and not admission.config.trusted_proxies
        origins = admission.config.origins.split(",")
        self._origins = frozenset(filter(None, (origin.strip().rstrip("/") for origin in origins)))
        self.received = self.answered = 0
        self._rejected = 0  # since the last line about rejections
        self._last_line = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.monotonic(), 0
        headers, is_deepl = Headers(scope=scope), scope["path"].startswith(DEEPL)
        origin = headers.get("origin", "")
        is_named = bool(origin) and not self._origins.isdisjoint((origin, "*"))
        added = HEADERS if is_deepl and not is_named else HEADERS + CROSS_ORIGIN
        self.received += 1

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *added]
            body = message.get("body", b"")
            if len(body) <= PORTION:
                await send(message)
                return
            for start in range(0, len(body), PORTION):
                # A client that does not read must not keep what it has asked for in memory.
                end = start + PORTION
                more = message.get("more_body", False) or end < len(body)
                async with asyncio.timeout(self.admission.config.idle_seconds):
                    await send({**message, "body": body[start:end], "more_body": more})

        try:
            _check_host(scope)
            if scope["method"] == "OPTIONS":
                await Response(status_code=200)(scope, receive, send_with_headers)
            else:
                is_work = scope["method"] == "POST" or scope["path"] == "/translate"
                if (is_work or is_deepl) and not is_named:
                    _check_site(headers)
                    if self._is_private and (is_deepl or origin):
                        _check_name(scope, headers)
                if is_work:
                    self.admission.check_load()
                await self.app(scope, receive, send_with_headers)
        except Rejection as error:  # the application answers its own
            rejected = error_response(scope["path"], error)
            await rejected(scope, receive, send_with_headers)
        except TimeoutError:
            log.info("a client does not read its answer")
            raise  # so that the connection is closed
        except Exception as error:
            # The message of the exception may hold a text: the log gets its type and place.
            log.error("%s at %s", type(error).__name__, find_place(error))
            if not status:
                failed = error_response(scope["path"], Rejection(500, FAILED))
                await failed(scope, receive, send_with_headers)
        finally:
            self.answered += bool(status)
            self._record(scope, status, time.monotonic() - started)

    def _name_path(self, path: str) -> str:
        if path in self._fixed:
            return path
        names = (name for pattern, name in self._open.items() if pattern.match(path))
        return next(names, "other")

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = self._name_path(scope["path"])
        self.metrics.requests.labels(path, str(status)).inc()
        self.metrics.request_seconds.labels(path).observe(seconds)
        if status != 429:
            log.info("%s %s %d %.1f ms", scope["method"][:10], path, status, 1000 * seconds)
            return
        self._rejected += 1
        now = time.monotonic()
        if now > self._last_line + 1:
            log.info("%d requests answered with 429", self._rejected)
            self._rejected, self._last_line = 0, now


def _check_host(scope: Scope) -> None:
    """Require one Host header, as HTTP/1.1 does: proxies and servers may read two differently.

    Raises:
        Rejection: 400.
    """
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    # Granian adds an empty one to a request without any.
    if len(hosts) > 1 or (not any(hosts) and scope.get("http_version") == "1.1"):
        raise Rejection(400, "Invalid request: it needs one Host header")


def _check_site(headers: Headers) -> None:
    """Reject the requests of pages of other sites, by what browsers say of them.

    Raises:
        Rejection: 403.
    """
    host, origin = headers.get("host", ""), headers.get("origin", "")
    # Browsers send it to HTTPS and to this machine only. It also holds behind a proxy that sends another Host.
    if site := headers.get("sec-fetch-site"):
        is_own = site in ("same-origin", "none")
    else:
        is_own = origin in ("", f"http://{host}", f"https://{host}")
    # An extension of a browser is no page; its origin is such as chrome-extension://NAME.
    is_page = origin in ("", "null") or origin.startswith(("http://", "https://"))
    if is_page and not is_own:
        raise Rejection(
            403,
            "Pages of other sites cannot use this address, unless server.origins names the site",
        )


def _check_name(scope: Scope, headers: Headers) -> None:
    """Reject foreign names of this machine: a page of a site that has one would count as the server's own.

    Raises:
        Rejection: 403.
    """
    address, name = (scope.get("server") or ("",))[0], headers.get("host", "")
    if _is_loopback(address) and name and not _is_loopback(re.sub(r":\d*$", "", name)):
        raise Rejection(
            403, "Call the server localhost, or start it with keys or server.trusted_proxies"
        )


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name.lower() == "localhost"
