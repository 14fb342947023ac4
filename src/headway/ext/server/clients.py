"""Who sends a request: the owner of a key, or an address on a server without keys."""

from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv6Address, ip_address

from starlette.requests import Request

from headway.ext.server.keys import Keys, given_key
from headway.ext.server.rate_limit import RateLimit
from headway.ext.server.rejection import Rejection

WRONG_KEYS_A_MINUTE = 10  # of one address


class Clients:
    """Tells clients apart, and bounds how many keys each address may guess.

    Args:
        keys: The valid API keys; None: everybody may send requests.
    """

    def __init__(self, keys: Keys | None) -> None:
        self.keys = keys
        self.wrong_keys = RateLimit(WRONG_KEYS_A_MINUTE)
        self._guesses = RateLimit(WRONG_KEYS_A_MINUTE)  # keys in headers that found no place

    def identify(self, request: Request, fields: Mapping[str, object]) -> str:
        """Return the name of a key's owner, or the client's address on a server without keys.

        Raises:
            Rejection: 400 or 403 for the key; 429 if the address has sent many wrong keys.
        """
        address = _address(request)
        if self.keys is None:
            return address
        key = given_key(fields, request.headers)
        self.wrong_keys.check(address)
        try:
            return self.keys.check(key)
        except Rejection:
            if key:
                self.wrong_keys.take(address)
            raise

    def is_known(self, request: Request) -> bool:
        """Return whether the header has a valid key, or no key is needed; False for an address that has guessed too often."""
        if self.keys is None:
            return True
        try:
            self._guesses.check(_address(request))
            return bool(self.keys.check(given_key({}, request.headers)))
        except Rejection:
            return False

    def count_guess(self, request: Request) -> None:
        """Count a guess at a key: the status of the answer will tell that the one in the header is not valid.

        It does not count as a wrong key, because the header may be meant for a proxy, and the key be in the body.

        Raises:
            Rejection: 429 if the address has guessed often.
        """
        if given_key({}, request.headers):
            self._guesses.take(_address(request))


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
