"""Who sends a request, and whether this client may: keys, guesses at keys, and rates.

Without keys everybody may, and a client is an address.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from time import monotonic

from starlette.requests import Request

from headway.ext.server.answers import DEEPL
from headway.ext.server.keys import Keys
from headway.ext.server.rejection import Rejection

MAX_CLIENTS = 10_000  # remembered; the client that was not seen for longest is forgotten first
WRONG_KEYS_A_MINUTE = 10  # of one address
SCHEMES = ("bearer", "deepl-auth-key")  # of ``Authorization: SCHEME KEY``
TEXT_FIELDS = ("q", "text", "file")


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
        """Count the texts of a request; with 0 texts, check only whether the client has one left.

        Args:
            client: The name of the client's key, or its address.
            texts: Texts in the request.

        Raises:
            Rejection: 429 if the client has too few texts left.
        """
        if not self.limit:
            return
        now = monotonic()
        left, then = self._clients.get(client, (float(self.limit), now))
        left = min(self.limit, left + (now - then) * self.limit / 60)
        # A list longer than the limit passes if the client has sent nothing else for a minute.
        needed = min(texts, self.limit)
        is_allowed = left >= max(1, needed)
        if texts:
            self._clients[client] = (left - needed if is_allowed else left, now)
            self._clients.move_to_end(client)
            if len(self._clients) > MAX_CLIENTS:
                self._clients.popitem(last=False)
        if not is_allowed:
            wait = max(1, math.ceil((max(1, needed) - left) * 60 / self.limit))
            headers = {"Retry-After": str(wait)}
            raise Rejection(429, f"Slowdown: {self.limit} per 1 minute", headers)


class Clients:
    """Tells clients apart, and bounds how many texts each sends, and how many keys each address guesses.

    Args:
        keys: The valid API keys; None: everybody may send requests.
        req_limit: Texts a minute of each client; 0: any number.
    """

    def __init__(self, keys: Keys | None, req_limit: int = 0) -> None:
        self.keys = keys
        self.rates = RateLimit(req_limit)
        self.wrong_keys = RateLimit(WRONG_KEYS_A_MINUTE)

    def identify(self, request: Request) -> str | None:
        """Return the client's address on a server without keys, or else the name of the owner of the key in the header.

        Returns:
            None: The key may be in the body, see `identify_by_field`.

        Raises:
            Rejection: 403 for the key; 429 if the address has sent many wrong keys.
        """
        if self.keys is None:
            return _address(request)
        scheme, _, token = read_authorization(request.headers).partition(" ")
        if scheme.lower() in SCHEMES and token.strip():
            return self._find_owner(request, token.strip())
        if request.scope["path"].startswith(DEEPL):
            message = "Authorization failed: send the header Authorization: DeepL-Auth-Key KEY"
            raise Rejection(403, message)
        return None

    def identify_by_field(self, request: Request, key: object) -> str:
        """Return the name of the owner of the key in a request's field.

        Raises:
            Rejection: 400 if there is none; otherwise as `identify`.
        """
        if not key:
            raise Rejection(400, "Please contact the server operator to get an API key")
        return self._find_owner(request, key)

    def _find_owner(self, request: Request, key: object) -> str:
        address = _address(request)
        self.wrong_keys.take(address, 0)
        owner = self.keys and self.keys.find_owner(key)
        if not owner:
            self.wrong_keys.take(address)
            raise Rejection(403, "Invalid API key")
        return owner

    def count_texts(self, client: str, fields: Mapping[str, object]) -> None:
        """Count the texts that a request brings; a file is one, however long it is.

        Raises:
            Rejection: 429 if the client has sent many.
        """
        given = [fields[name] for name in TEXT_FIELDS if fields.get(name)]
        if given:
            self.rates.take(
                client, sum(len(each) if isinstance(each, list) else 1 for each in given)
            )


def read_authorization(headers: Mapping[str, str]) -> str:
    """Return the header ``Authorization``: in UTF-8, or in Latin-1, in which some programs write it.

    Args:
        headers: One character for each byte.
    """
    given = headers.get("authorization", "")
    try:
        return given.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return given


def _address(request: Request) -> str:
    """Return the client's address; of IPv6 its first 64 bits, because one client usually has all that begin so.

    Some proxies write a port behind it. Those whose address cannot be read are one client.
    """
    host = request.client.host if request.client else ""
    for written in (host, host.rpartition(":")[0]):
        with suppress(ValueError):
            address = ip_address(written.strip("[]"))
            if isinstance(address, IPv6Address):
                return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
            return str(address)
    return "?"
