"""Which requests the server accepts."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request

from headway.config import ServerConfig
from headway.errors import HeadwayError
from headway.serving.keys import Keys
from headway.serving.metrics import Metrics
from headway.serving.queue import TranslationQueue
from headway.serving.rate_limit import RateLimit
from headway.serving.rejection import Rejection, overloaded
from headway.serving.requests import read_fields

log = logging.getLogger("headway.serving")


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
        self.config, self.keys, self.queue, self.metrics = config, keys, queue, metrics
        self.rates = RateLimit(config.req_limit)
        self.pending = 0  # requests that were admitted and have no answer yet

    @asynccontextmanager
    async def admit(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Admit a request for the time until its answer, and yield its fields.

        Raises:
            Rejection: 400, 403, 408, 413, 415 or 429 for the request itself; 503 when the deadline
                passes; 500 if a model fails.
        """
        self.pending += 1
        try:
            async with asyncio.timeout(self.config.deadline):
                fields = await read_fields(request, self.config)
                client = request.client.host if request.client else "?"
                if self.keys is not None:
                    client = self.keys.check(fields.get("api_key"))
                q = fields.get("q")
                self.rates.take(client, max(1, len(q)) if isinstance(q, list) else 1)
                yield fields
        except TimeoutError:
            message = f"This took more than {self.config.deadline:g} seconds"
            raise Rejection(503, message, {"Retry-After": "10"}) from None
        except HeadwayError as error:
            log.error("cannot translate: %s", error)
            raise Rejection(500, str(error).splitlines()[0]) from None
        finally:
            self.pending -= 1

    def check_load(self) -> None:
        """Reject a request, of which nothing has been read, if the server is overloaded.

        Requests that are still being read count as one text of the usual length each. Otherwise many
        requests would be read for one free place, and most of them rejected after that work.

        Raises:
            Rejection: 429.
        """
        reading = max(0, self.pending - self.queue.texts)
        self.queue.check_load(round(reading * self.queue.typical_text))
        if self.pending >= self.config.queue_texts:
            self.metrics.rejected.inc()
            raise overloaded(max(1, min(60, round(self.queue.expected_seconds()))))
