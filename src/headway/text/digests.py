"""Digests of pairs: eight bytes by which equal text is recognized."""

from array import array
from hashlib import blake2b


def digest_pair(source: str, target: str) -> bytes:
    """Return the digest of a pair."""
    return blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def digest_loosely(source: str, target: str) -> tuple[bytes, bytes, bytes]:
    """Return digests of a pair and of each side alone; letter case and white space do not matter."""
    source, target = (" ".join(side.casefold().split()) for side in (source, target))
    return digest_pair(source, target), digest_pair(source, "\n"), digest_pair("\n", target)


class Digests:
    """A set of 8-byte digests that takes 16 to 32 bytes for each; Python's set takes about 100.

    It is a hash table of integers with linear probing, at most half full.
    """

    def __init__(self) -> None:
        self._table = array("Q", [0]) * 1024
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, digest: bytes) -> bool:
        key = int.from_bytes(digest, "little") or 1
        return self._table[_find_slot(self._table, key)] != 0

    def add(self, digest: bytes) -> bool:
        """Add a digest and return whether it is new."""
        key = int.from_bytes(digest, "little") or 1  # 0 marks a free slot
        slot = _find_slot(self._table, key)
        if self._table[slot]:
            return False
        self._table[slot] = key
        self._count += 1
        if 2 * self._count > len(self._table):
            larger = array("Q", [0]) * (2 * len(self._table))
            for held in self._table:
                if held:
                    larger[_find_slot(larger, held)] = held
            self._table = larger
        return True


def _find_slot(table: "array[int]", key: int) -> int:
    """Return the slot of a key in a table, or the free slot where it belongs."""
    last = len(table) - 1
    slot = key & last
    while table[slot] not in (0, key):
        slot = (slot + 1) & last
    return slot
