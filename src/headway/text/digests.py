"""Digests of pairs: eight bytes by which equal text is recognized."""

from hashlib import blake2b


def digest_pair(source: str, target: str) -> bytes:
    """Return the digest of a pair."""
    return blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def digest_loosely(source: str, target: str) -> tuple[bytes, bytes, bytes]:
    """Return digests of a pair and of each side alone; letter case and white space do not matter."""
    source, target = (" ".join(side.casefold().split()) for side in (source, target))
    return digest_pair(source, target), digest_pair(source, "\n"), digest_pair("\n", target)
