"""The settings of ``headway serve``."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from headway.config import NOT_NEGATIVE, POSITIVE, at_most, list_wrong_values, raise_all, setting

UNLIMITED = 1_000_000_000  # the largest limit; no request reaches it
LIMIT = at_most(UNLIMITED)


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Limits and times of ``headway serve``; the paper has no server.

    Attributes:
        char_limit: characters of one text
        batch_limit: texts in one request
        alternatives_limit: alternatives of one text
        body_limit: bytes of a request's body
        req_limit: texts and files per minute for each client; 0: any number
        queue_tokens: source tokens that may wait
        queue_texts: texts that may wait or be translated
        batch_tokens: padded source tokens translated at once; a GPU takes 15 times as many
        deadline: seconds from a request to its answer; then the answer is 503
        idle_seconds: seconds for a header, for a body without a file, and between requests
        connections: open connections; further ones wait to be accepted
        file_limit: bytes of a file; 0: no files
        file_jobs: files translated at the same time
        file_deadline: seconds from a request with a file to its answer
        split_sentences: translate each sentence of a line alone
        trusted_proxies: addresses and networks whose X-Forwarded-For is believed, separated by commas; *: every one
        origins: sites whose pages may use the server, such as https://a.example, separated by commas; *: every one
        glossaries: glossaries that requests may name: NAME=FILE or NAME=FILE@en-de, separated by commas
        glossary_limit: characters of a request's glossary
        usage_file: file that keeps the counts of /v2/usage when the server ends; empty: none
        metrics_token: bearer token that /metrics requires; empty: none
        watch_seconds: seconds between two checks for changed models; 0: only on SIGHUP
    """

    char_limit: int = setting(10_000, POSITIVE, LIMIT)
    batch_limit: int = setting(64, POSITIVE, LIMIT)
    alternatives_limit: int = setting(10, NOT_NEGATIVE, LIMIT)
    body_limit: int = setting(1_000_000, POSITIVE, LIMIT)
    req_limit: int = setting(0, NOT_NEGATIVE, LIMIT)
    queue_tokens: int = setting(50_000, POSITIVE, LIMIT)
    queue_texts: int = setting(500, POSITIVE, LIMIT)
    batch_tokens: int = setting(2_000, POSITIVE, LIMIT)
    deadline: float = setting(30.0, POSITIVE, LIMIT)
    idle_seconds: float = setting(8.0, POSITIVE, LIMIT)
    connections: int = setting(2_000, POSITIVE, LIMIT)
    file_limit: int = setting(4_000_000, NOT_NEGATIVE, LIMIT)
    file_jobs: int = setting(2, POSITIVE, LIMIT)
    file_deadline: float = setting(600.0, POSITIVE, LIMIT)
    split_sentences: bool = True
    trusted_proxies: str = ""
    origins: str = ""
    glossaries: str = ""
    glossary_limit: int = setting(100_000, POSITIVE, LIMIT)
    usage_file: str = ""
    metrics_token: str = ""
    watch_seconds: float = setting(0.0, NOT_NEGATIVE, LIMIT)

    def __post_init__(self) -> None:
        raise_all(list_wrong_values(self))
        problems = []
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
