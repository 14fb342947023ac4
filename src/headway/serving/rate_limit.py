"""How many texts each client may send."""

import math
from collections import OrderedDict
from time import monotonic

from headway.serving.rejection import Rejection

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
        left, then = self._clients.pop(client, (float(self.limit), now))
        left = min(self.limit, left + (now - then) * self.limit / 60)
        # A list longer than the limit passes if the client has sent nothing else for a minute.
        needed = min(texts, self.limit)
        is_allowed = left >= needed
        self._clients[client] = (left - needed if is_allowed else left, now)
        if len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
        if not is_allowed:
            wait = max(1, math.ceil((needed - left) * 60 / self.limit))
            headers = {"Retry-After": str(wait)}
            raise Rejection(429, f"Slowdown: {self.limit} per 1 minute", headers)
