"""API keys, and how many texts each client may send."""

import hashlib
import hmac
import math
from collections import OrderedDict
from pathlib import Path
from time import monotonic

from headway.errors import HeadwayError
from headway.serving.rejection import Rejection

MAX_CLIENTS = 10_000  # remembered; the client that was not seen for longest is forgotten first


class Keys:
    """API keys; only their hashes stay in memory.

    Args:
        file: One key a line; empty lines and lines that begin with ``#`` are ignored.

    Raises:
        HeadwayError: If the file is not UTF-8, or holds no key.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        self._hashes: list[bytes] = []
        self.read()

    def read(self) -> None:
        """Read the file again; if that fails, the old keys stay valid.

        Raises:
            HeadwayError: If the file is not UTF-8, or holds no key.
            OSError: If the file cannot be read.
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
        """Return a name for the owner of a key. The name does not reveal the key.

        Each comparison takes the same time, however much of the key is right.

        Raises:
            Rejection: 400 if there is no key, 403 if it is wrong.
        """
        if not key:
            raise Rejection(400, "Please contact the server operator to get an API key")
        if not isinstance(key, str):
            raise Rejection(403, "Invalid API key")
        given, is_valid = _hash(key), False
        for known in self._hashes:
            is_valid |= hmac.compare_digest(given, known)
        if not is_valid:
            raise Rejection(403, "Invalid API key")
        return f"key {given.hex()}"  # the name stays the same when the file is read again


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


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
