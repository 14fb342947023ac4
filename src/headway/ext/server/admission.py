"""Which requests the server accepts, before it reads them; `queue.py` has the rule of when it is overloaded.

Before anything of a request is read, and again when its body has come, `Admission.retry_after` asks the queue whether there is
room. Then `Admission.admit` asks for the client (`clients.py`): its key, which may be in the body, and its rate.
When the number of tokens is known, the queue is asked once more (`TranslationQueue.check_room`).
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TypeVar

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from headway.ext.server.answers import DEEPL
from headway.ext.server.clients import Clients
from headway.ext.server.keys import Keys
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection, client_left, overloaded
from headway.ext.server.requests import check_body, is_file_form, read_fields, too_large
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.validation import RequestParser

R = TypeVar("R", bound=Struct)
BODIES = 20  # of the largest size, for which there is room at the same time
STRANGERS = 0.5  # the share of this room that requests without a valid key in the header may take
STOPPING_SECONDS = 3.0  # from a signal to the answers to all requests: those that are not translated by then get 503
ARRIVING = 0.1  # the share of the queue that requests may take whose bodies have not come, so that they keep nobody out


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
        self.config, self.queue, self.metrics = config, queue, metrics
        self.clients = Clients(keys, config.req_limit)
        origins = (origin.strip().rstrip("/") for origin in config.origins.split(","))
        self._origins = frozenset(filter(None, origins))
        self.pending = 0  # requests that were admitted and have no answer yet
        self._ends_at = math.inf  # when the server ends, by the clock of the event loop
        self._arriving = 0  # requests whose body has not come
        self._bytes = Counter[tuple[bool, bool]]()  # of bodies, by `_receive`
        self._timeouts: set[asyncio.Timeout] = set()  # of the pending requests

    @property
    def is_stopping(self) -> bool:
        """Whether the server ends soon."""
        return self._ends_at < math.inf

    def names_site(self, scope: Scope) -> bool:
        """Return whether a request comes from a page of a site that the settings name."""
        origin = Headers(scope=scope).get("origin", "")
        return bool(origin) and not self._origins.isdisjoint((origin, "*"))

    def check(self, scope: Scope) -> None:
        """Reject what the header of a request forbids.

        Raises:
            Rejection: 400 for the name of the server, 403 for the page that asks.
        """
        _check_host(scope)
        headers, is_deepl = Headers(scope=scope), scope["path"].startswith(DEEPL)
        if scope["method"] == "OPTIONS":
            return
        if (is_work(scope) or is_deepl) and not self.names_site(scope):
            _check_site(headers)
            # Without keys and a proxy, a server on a loopback address is called by loopback names only.
            is_private = self.clients.keys is None and not self.config.trusted_proxies
            if is_private and (is_deepl or headers.get("origin")):
                _check_name(scope, headers)

    @asynccontextmanager
    async def admit(
        self, request: Request, parser: RequestParser[R]
    ) -> AsyncIterator[tuple[str, R]]:
        """Admit a request for the time until its answer, and yield the name of its client, from `Clients`, and what it asks for.

        Args:
            request: The request as it comes. One that may have a file gets room for more bytes, and more time.
            parser: Makes what it asks for of its fields.

        Raises:
            Rejection: 400, 403, 408, 413, 415 or 429 for the request itself; 503 when the deadline passes.
        """
        has_file = parser.has_file
        if has_file and not self.config.file_limit:
            raise Rejection(403, "Files translation are disabled on this server.")
        deadline = self.config.file_deadline if has_file else self.config.deadline
        client = self.clients.identify(request)
        now = asyncio.get_running_loop().time()
        timeout = asyncio.timeout_at(min(now + deadline, self._ends_at))
        self._timeouts.add(timeout)
        try:
            async with (
                timeout,
                self._receive(request, has_file and is_file_form(request), client) as body,
            ):
                if body and (seconds := self.retry_after()):  # others may have come meanwhile
                    raise overloaded(seconds)
                self.pending += 1
                try:
                    yield await self._read(request, body, parser, client)
                finally:
                    self.pending -= 1
        except TimeoutError:
            message = f"This took more than {deadline:g} seconds"
            if self.is_stopping:
                message = "The server is stopping, try again later"
            raise Rejection(503, message, {"Retry-After": "10"}) from None
        finally:
            self._timeouts.remove(timeout)

    async def _read(
        self, request: Request, body: bytes, parser: RequestParser[R], client: str | None
    ) -> tuple[str, R]:
        """Return who sends a request, and what it asks for; its fields are not kept."""
        fields = await read_fields(request, body, self.config, parser, self.queue.threads)
        if client is None:
            client = self.clients.identify_by_field(request, fields.get("api_key"))
        self.clients.count_texts(client, fields)
        return client, parser.parse(fields)

    def stop(self) -> None:
        """Give pending and further requests little time, because the server ends."""
        self._ends_at = asyncio.get_running_loop().time() + STOPPING_SECONDS
        for timeout in self._timeouts:
            if (timeout.when() or self._ends_at) > self._ends_at:  # it has not passed already
                timeout.reschedule(self._ends_at)

    @asynccontextmanager
    async def _receive(
        self, request: Request, has_file: bool, client: str | None
    ) -> AsyncIterator[bytes]:
        """Receive a body, and hold room for its bytes until the answer; what has not come takes none.

        On a server with keys, requests without one in the header get a part of the room, so that they
        cannot keep out those that have one, by sending slowly or much.

        Raises:
            Rejection: As `check_body`; 408 if the body does not arrive in time, 429 if there is no room.
        """
        config, is_known = self.config, client is not None
        limit = config.body_limit + (config.file_limit if has_file else 0)
        room = BODIES * limit if is_known else max(limit, round(STRANGERS * BODIES * limit))
        kind, body = (is_known, has_file), bytearray()
        check_body(request.headers, limit)
        seconds = config.deadline if has_file else config.idle_seconds
        try:
            self._arriving += 1
            try:
                async with asyncio.timeout(seconds):
                    async for chunk in request.stream():
                        if len(body) + len(chunk) > limit:
                            raise too_large(limit)
                        if self._bytes[kind] + len(chunk) > room:
                            self.metrics.rejected.inc()
                            raise overloaded(1)
                        self._bytes[kind] += len(chunk)
                        body += chunk
            except ClientDisconnect:
                raise client_left() from None
            except TimeoutError:
                headers = {"Connection": "close"}
                raise Rejection(408, "The request did not arrive in time", headers) from None
            finally:
                self._arriving -= 1
            yield bytes(body)
        finally:
            self._bytes[kind] -= len(body)

    def retry_after(self) -> int:
        """Return after how many seconds a request should come again for which there is no room; 0: there is room.

        Requests whose text is not in the queue yet count as one text of the usual length each. Otherwise many
        requests would be read for one free place, and most of them rejected after that work.
        """
        arriving = min(self._arriving, int(ARRIVING * self.config.queue_texts))
        reading = max(0, self.pending - self.queue.texts)
        return self.queue.retry_after(ahead=arriving + reading)


def is_work(scope: Scope) -> bool:
    """Return whether a request asks for work, which may be too much."""
    return scope["method"] == "POST" or scope["path"] == "/translate"


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
