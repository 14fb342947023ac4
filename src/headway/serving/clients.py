"""Who asks, and how often he may."""

import hashlib
import hmac
import math
from collections import OrderedDict
from pathlib import Path
from time import monotonic

from headway.errors import HeadwayError
from headway.serving.refusal import Refusal

REMEMBERED = 10_000  # clients; the one not seen for longest is forgotten first


class Keys:
    """API keys; only their hashes are held.

    Args:
        file: One key a line; empty lines and those that begin with ``#`` do not count.

    Raises:
        HeadwayError: If it is not text, or holds no key.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        self._hashes: list[bytes] = []
        self.read()

    def read(self) -> None:
        """Read the file again; if that fails the keys stay as they are.

        Raises:
            HeadwayError: If it is not text, or holds no key.
            OSError: If it cannot be read.
        """
        try:
            lines = self.file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise HeadwayError(f"{self.file}: not UTF-8 at byte {error.start}") from None
        keys = [line.strip() for line in lines if line.strip() and line.strip()[0] != "#"]
        if not keys:
            raise HeadwayError(f"{self.file}: holds no key; write one a line")
        self._hashes = [_hash(key) for key in keys]

    def check(self, key: object) -> str:
        """Return a name for whoever has this key, which does not tell the key.

        Every key takes the same time to compare, whatever it has in common with a right one.

        Raises:
            Refusal: 400 if there is none, 403 if it is wrong.
        """
        if not key:
            raise Refusal(400, "Please contact the server operator to get an API key")
        if not isinstance(key, str):
            raise Refusal(403, "Invalid API key")
        given, right = _hash(key), False
        for known in self._hashes:
            right |= hmac.compare_digest(given, known)
        if not right:
            raise Refusal(403, "Invalid API key")
        return f"key {given.hex()}"  # the same after the file has changed


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


class Rates:
    """Lets each client ask so many times a minute; unused minutes are not saved up.

    Args:
        limit: Requests a minute; 0: any number.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # For each client what is left, and when that was.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, cost: int = 1) -> None:
        """Count a request.

        Args:
            client: His key's name or his address.
            cost: Texts in it.

        Raises:
            Refusal: 429 if it is one too many.
        """
        if not self.limit:
            return
        now = monotonic()
        left, then = self._left.pop(client, (float(self.limit), now))
        left = min(self.limit, left + (now - then) * self.limit / 60)
        # A list longer than the limit passes when nothing else has been asked for a minute.
        needed = min(cost, self.limit)
        allowed = left >= needed
        self._left[client] = (left - needed if allowed else left, now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        if not allowed:
            wait = math.ceil((needed - left) * 60 / self.limit)
            raise Refusal(
                429, f"Slowdown: {self.limit} per 1 minute", {"Retry-After": str(max(1, wait))}
            )
