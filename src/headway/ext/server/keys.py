"""API keys."""

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.server.rejection import Rejection

SCHEMES = ("bearer", "deepl-auth-key")  # of ``Authorization: SCHEME KEY``


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
            # Some programs put a byte order mark before UTF-8.
            lines = self.file.read_text(encoding="utf-8-sig").splitlines()
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


def given_key(fields: Mapping[str, object], headers: Mapping[str, str]) -> object:
    """Return the key of a request: the field ``api_key``, or a header, which has one of `SCHEMES`."""
    scheme, _, token = read_authorization(headers).partition(" ")
    return fields.get("api_key") or (token.strip() if scheme.lower() in SCHEMES else "")


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


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
