"""Which requests the server accepts, before it reads them; `queue.py` has the rule of when it is overloaded.

Before anything of a request is read, and again when its body has come, `Admission.check_load` asks the queue whether there is
room. Then `Admission.admit` checks the key (`clients.py`), which may be in the body, and the client's rate (`rate_limit.py`).
When the number of tokens is known, the queue is asked once more (`TranslationQueue.check_room`).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from starlette.requests import Request

from headway.errors import HeadwayError
from headway.ext.server.clients import Clients
from headway.ext.server.keys import Keys
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rate_limit import RateLimit
from headway.ext.server.rejection import Rejection, overloaded
from headway.ext.server.requests import read_body, read_fields
from headway.ext.server.server_settings import ServerConfig

log = logging.getLogger("headway.ext.server")
BODIES = 20  # of the largest size, for which there is room at the same time
STRANGERS = 0.5  # the share of this room that requests without a valid key in the header may take
TEXT_FIELDS = ("q", "text", "file")


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
        self.clients = Clients(keys)
        self.rates = RateLimit(config.req_limit)
        self.pending = 0  # requests that were admitted and have no answer yet
        self.is_stopping = False
        self._bytes = Counter[tuple[bool, bool]]()  # of bodies, by `_receive`
        self._timeouts: set[asyncio.Timeout] = set()  # of the pending requests

    @asynccontextmanager
    async def admit(
        self, request: Request, has_file: bool = False, repeated: str = ""
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Admit a request for the time until its answer, and yield the name of its client, from `Clients`, and its fields.

        Args:
            request: The request.
            has_file: Whether it may have a file, and then more bytes and more time.
            repeated: The name of the field with its texts, if a form may repeat it.

        Raises:
            Rejection: 400, 403, 408, 413, 415 or 429 for the request itself; 503 when the deadline
                passes; 500 if a model fails.
        """
        has_more = has_file and not self.is_stopping
        deadline = self.config.file_deadline if has_more else self.config.deadline
        timeout = asyncio.timeout(deadline)
        self._timeouts.add(timeout)
        try:
            async with timeout, self._receive(request, has_file) as body:
                if body:  # others may have come meanwhile
                    self.check_load()
                self.pending += 1
                try:
                    fields = await read_fields(request, body, self.config, has_file, repeated)
                    client = self.clients.identify(request, fields)
                    self.rates.take(client, _count_texts(fields))
                    yield client, fields
                finally:
                    self.pending -= 1
        except TimeoutError:
            message = f"This took more than {deadline:g} seconds"
            if self.is_stopping:
                message = "The server is stopping, try again later"
            raise Rejection(503, message, {"Retry-After": "10"}) from None
        except HeadwayError as error:
            log.error("cannot translate: %s", error)
            raise Rejection(500, str(error).splitlines()[0]) from None
        finally:
            self._timeouts.remove(timeout)

    def stop(self) -> None:
        """Give no pending request more time than one without a file has, because the server ends."""
        self.is_stopping = True
        latest = asyncio.get_running_loop().time() + self.config.deadline
        for timeout in self._timeouts:
            if (timeout.when() or latest) > latest:
                timeout.reschedule(latest)

    @asynccontextmanager
    async def _receive(self, request: Request, has_file: bool) -> AsyncIterator[bytes]:
        """Receive a body, and hold room for its bytes until the answer; what has not come takes none.

        On a server with keys, requests without a valid key in the header get a part of the room, so that they
        cannot keep out those that have one, by sending slowly or much.

        Raises:
            Rejection: As `read_body`; 429 if there is no room.
        """
        config, is_known = self.config, self.clients.is_known(request)
        limit = config.body_limit + (config.file_limit if has_file else 0)
        room = BODIES * limit if is_known else max(limit, round(STRANGERS * BODIES * limit))
        kind, body = (is_known, has_file), bytearray()
        try:
            seconds = config.deadline if has_file else config.idle_seconds
            async with aclosing(read_body(request, limit, seconds)) as chunks:
                async for chunk in chunks:
                    if self._bytes[kind] + len(chunk) > room:
                        self.metrics.rejected.inc()
                        if not is_known:
                            self.clients.count_guess(request)
                        raise overloaded(1)
                    self._bytes[kind] += len(chunk)
                    body += chunk
            yield bytes(body)
        finally:
            self._bytes[kind] -= len(body)

    def check_load(self) -> None:
        """Reject a request, of which no field has been read, if the server is overloaded.

        Requests whose text is not in the queue yet count as one text of the usual length each. Otherwise many
        requests would be read for one free place, and most of them rejected after that work.

        Raises:
            Rejection: 429.
        """
        reading = max(0, self.pending - self.queue.texts)
        self.queue.reject_if_full(ahead=round(reading * self.queue.typical_text))
        if self.pending >= self.config.queue_texts:
            self.metrics.rejected.inc()
            raise overloaded(max(1, min(60, round(self.queue.expected_seconds()))))


def _count_texts(fields: Mapping[str, object]) -> int:
    """Return how many texts a request brings; a file is one, however long it is."""
    given = [fields[name] for name in TEXT_FIELDS if fields.get(name)]
    return sum(len(each) if isinstance(each, list) else 1 for each in given)
