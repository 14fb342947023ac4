"""API keys."""

import hashlib
from pathlib import Path

from headway.errors import HeadwayError


class Keys:
    """API keys; only their hashes stay in memory.

    Args:
        file: One key a line; empty lines and lines that begin with ``#`` are ignored.

    Raises:
        HeadwayError: If the file is not UTF-8, or holds no key.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        self._hashes = set[bytes]()
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
        self._hashes = {_hash(key) for key in keys}

    def find_owner(self, key: object) -> str | None:
        """Return a name for the owner of a key, which does not reveal the key; None: the key is wrong.

        The time that this takes tells nothing about the keys, because it depends on hashes alone.
        """
        given = _hash(key) if isinstance(key, str) else b""
        # The name stays the same when the file is read again.
        return f"key {given.hex()}" if given in self._hashes else None


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
