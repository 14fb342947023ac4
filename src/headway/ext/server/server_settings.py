"""The settings of ``headway serve``."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from headway.config import NOT_NEGATIVE, POSITIVE, at_most, list_broken_bounds, raise_all

UNLIMITED = 1_000_000_000  # the largest limit; no request reaches it
LIMIT = at_most(UNLIMITED)


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Limits and times of ``headway serve``; the paper has no server."""

    char_limit: Annotated[int, "characters of one text", POSITIVE, LIMIT] = 10_000
    batch_limit: Annotated[int, "texts in one request", POSITIVE, LIMIT] = 64
    alternatives_limit: Annotated[int, "alternatives of one text", NOT_NEGATIVE, LIMIT] = 10
    body_limit: Annotated[int, "bytes of a request's body", POSITIVE, LIMIT] = 1_000_000
    req_limit: Annotated[
        int, "texts per minute for each client; 0: any number", NOT_NEGATIVE, LIMIT
    ] = 0
    queue_tokens: Annotated[int, "source tokens that may wait", POSITIVE, LIMIT] = 50_000
    queue_texts: Annotated[int, "texts that may wait or be translated", POSITIVE, LIMIT] = 500
    batch_tokens: Annotated[
        int,
        "padded source tokens translated at once; a GPU takes 15 times as many",
        POSITIVE,
        LIMIT,
    ] = 2_000
    wait_ms: Annotated[
        float, "milliseconds that a batch waits for more requests under load", NOT_NEGATIVE, LIMIT
    ] = 3.0
    deadline: Annotated[
        float, "seconds from a request to its answer; then the answer is 503", POSITIVE, LIMIT
    ] = 30.0
    idle_seconds: Annotated[
        float,
        "seconds for a header, for a body without a file, and between requests",
        POSITIVE,
        LIMIT,
    ] = 8.0
    connections: Annotated[
        int, "open connections; further ones wait to be accepted", POSITIVE, LIMIT
    ] = 2_000
    file_limit: Annotated[int, "bytes of a file; 0: no files", NOT_NEGATIVE, LIMIT] = 4_000_000
    file_jobs: Annotated[int, "files translated at the same time", POSITIVE, LIMIT] = 2
    file_deadline: Annotated[
        float, "seconds from a request with a file to its answer", POSITIVE, LIMIT
    ] = 600.0
    split_sentences: Annotated[bool, "translate each sentence of a line alone"] = True
    trusted_proxies: Annotated[
        str,
        "addresses and networks whose X-Forwarded-For is believed, separated by commas; *: every one",
    ] = ""
    glossaries: Annotated[
        str, "glossaries that requests may name: NAME=FILE or NAME=FILE@en-de, separated by commas"
    ] = ""
    glossary_limit: Annotated[int, "characters of a request's glossary", POSITIVE, LIMIT] = 100_000
    metrics_token: Annotated[str, "bearer token that /metrics requires; empty: none"] = ""
    watch_seconds: Annotated[
        float,
        "seconds between two checks for changed models; 0: only on SIGHUP",
        NOT_NEGATIVE,
        LIMIT,
    ] = 0.0

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
