"""The settings of ``headway serve``."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from headway.config import NOT_NEGATIVE, POSITIVE, at_most, list_broken_bounds, raise_all, setting

UNLIMITED = 1_000_000_000  # the largest limit; no request reaches it
LIMIT = at_most(UNLIMITED)


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Limits and times of ``headway serve``; the paper has no server."""

    char_limit: int = setting(10_000, "characters of one text", POSITIVE, LIMIT)
    batch_limit: int = setting(64, "texts in one request", POSITIVE, LIMIT)
    alternatives_limit: int = setting(10, "alternatives of one text", NOT_NEGATIVE, LIMIT)
    body_limit: int = setting(1_000_000, "bytes of a request's body", POSITIVE, LIMIT)
    req_limit: int = setting(
        0, "texts per minute for each client; 0: any number", NOT_NEGATIVE, LIMIT
    )
    queue_tokens: int = setting(50_000, "source tokens that may wait", POSITIVE, LIMIT)
    queue_texts: int = setting(500, "texts that may wait or be translated", POSITIVE, LIMIT)
    batch_tokens: int = setting(
        2_000,
        "padded source tokens translated at once; a GPU takes 15 times as many",
        POSITIVE,
        LIMIT,
    )
    wait_ms: float = setting(
        3.0, "milliseconds that a batch waits for more requests under load", NOT_NEGATIVE, LIMIT
    )
    deadline: float = setting(
        30.0, "seconds from a request to its answer; then the answer is 503", POSITIVE, LIMIT
    )
    idle_seconds: float = setting(
        8.0,
        "seconds for a header, for a body without a file, and between requests",
        POSITIVE,
        LIMIT,
    )
    connections: int = setting(
        2_000, "open connections; further ones wait to be accepted", POSITIVE, LIMIT
    )
    file_limit: int = setting(4_000_000, "bytes of a file; 0: no files", NOT_NEGATIVE, LIMIT)
    file_jobs: int = setting(2, "files translated at the same time", POSITIVE, LIMIT)
    file_deadline: float = setting(
        600.0, "seconds from a request with a file to its answer", POSITIVE, LIMIT
    )
    split_sentences: bool = setting(True, "translate each sentence of a line alone")
    trusted_proxies: str = setting(
        "",
        "addresses and networks whose X-Forwarded-For is believed, separated by commas; *: every one",
    )
    glossaries: str = setting(
        "", "glossaries that requests may name: NAME=FILE or NAME=FILE@en-de, separated by commas"
    )
    glossary_limit: int = setting(100_000, "characters of a request's glossary", POSITIVE, LIMIT)
    metrics_token: str = setting("", "bearer token that /metrics requires; empty: none")
    watch_seconds: float = setting(
        0.0, "seconds between two checks for changed models; 0: only on SIGHUP", NOT_NEGATIVE, LIMIT
    )

    def __post_init__(self) -> None:
        problems = list_broken_bounds(self)
        if self.batch_tokens > self.queue_tokens:
            problems.append(
                f"batch_tokens = {self.batch_tokens} is more than queue_tokens = {self.queue_tokens}"
            )
        raise_all([*problems, *_list_wrong_proxies(self.trusted_proxies)])


def _list_wrong_proxies(setting: str) -> Iterator[str]:
    """Yield a line for each part of ``trusted_proxies`` that no client's address would match."""
    if setting in ("", "*"):
        return
    for part in map(str.strip, setting.split(",")):
        try:
            ipaddress.ip_network(part)
        except ValueError:
            yield (
                f"trusted_proxies: '{part}' must be an address, such as 127.0.0.1, or the first address of a network,"
                " such as 10.0.0.0/8"
            )
