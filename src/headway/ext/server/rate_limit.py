"""How many texts each client may send."""

import math
from collections import OrderedDict
from time import monotonic

from headway.ext.server.rejection import Rejection

MAX_CLIENTS = 10_000  # remembered; the client that was not seen for longest is forgotten first


class RateLimit:
    """Limits the texts a minute of each client; unused minutes are not saved up.

    Args:
        limit: Texts a minute; 0: any number.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # For each client: the texts left, and the time of that count in seconds.
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(self, client: str) -> None:
        """Reject a client that has no text left, and count nothing.

        Raises:
            Rejection: 429.
        """
        if self.limit and (left := self._left(client, monotonic())) < 1:
            raise self._rejection(1 - left)

    def take(self, client: str, texts: int = 1) -> None:
        """Count the texts of a request.

        Args:
            client: The name of the client's key, or its address.
            texts: Texts in the request.

        Raises:
            Rejection: 429 if the client has too few texts left.
        """
        if not self.limit:
            return
        now = monotonic()
        left = self._left(client, now)
        # A list longer than the limit passes if the client has sent nothing else for a minute.
        needed = min(texts, self.limit)
        is_allowed = left >= needed
        self._clients[client] = (left - needed if is_allowed else left, now)
        self._clients.move_to_end(client)
        if len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
        if not is_allowed:
            raise self._rejection(needed - left)

    def _left(self, client: str, now: float) -> float:
        left, then = self._clients.get(client, (float(self.limit), now))
        return min(self.limit, left + (now - then) * self.limit / 60)

    def _rejection(self, missing: float) -> Rejection:
        wait = max(1, math.ceil(missing * 60 / self.limit))
        headers = {"Retry-After": str(wait)}
        return Rejection(429, f"Slowdown: {self.limit} per 1 minute", headers)
