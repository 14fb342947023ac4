"""What a server allows its clients, and how it forms batches."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from headway.config.loading import parse, read_toml
from headway.errors import HeadwayError, nearest

MOST = 1_000_000_000
# LibreTranslate's environment variables for settings of ours, and what their -1, no limit, is here: for
# alternatives the default, since each takes memory in the search; other texts end with the body's limit.
LIBRETRANSLATE = {
    "LT_CHAR_LIMIT": ("char_limit", str(MOST)),
    "LT_BATCH_LIMIT": ("batch_limit", str(MOST)),
    "LT_ALTERNATIVES_LIMIT": ("alternatives_limit", ""),
    "LT_REQ_LIMIT": ("req_limit", "0"),
    "LT_METRICS_AUTH_TOKEN": ("metrics_token", ""),
}
# Options of the command, and what is here always so.
OPTIONS = ("LT_HOST", "LT_PORT", "LT_THREADS")
ALWAYS = ("LT_METRICS", "LT_DISABLE_FILES_TRANSLATION")
OFF = ("", "0", "-1", "false", "no", "off", "none")


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Limits and times of ``headway serve``; 0 switches off only what says so."""

    char_limit: Annotated[int, "characters of one text"] = 10_000
    batch_limit: Annotated[int, "texts in one request"] = 64
    alternatives_limit: Annotated[int, "alternatives of one text"] = 10
    body_limit: Annotated[int, "bytes of one request's body"] = 1_000_000
    req_limit: Annotated[int, "requests a minute and client, a list costs its length; 0: any"] = 0
    queue_tokens: Annotated[int, "source tokens that may wait"] = 50_000
    queue_texts: Annotated[int, "texts of requests that may wait"] = 500
    batch_tokens: Annotated[int, "source tokens translated together"] = 2_000
    wait_ms: Annotated[float, "a batch waits so long for more requests; never when idle"] = 3.0
    deadline: Annotated[float, "seconds a request may take"] = 30.0
    idle_seconds: Annotated[float, "a connection may take over a request's header or body"] = 8.0
    connections: Annotated[int, "open at once"] = 2_000
    split_sentences: Annotated[bool, "translate each sentence of a line by itself"] = True
    trusted_proxies: Annotated[str, "addresses whose X-Forwarded-For is believed, by commas"] = ""
    metrics_token: Annotated[str, "bearer token that /metrics asks for; empty: none"] = ""
    watch_seconds: Annotated[float, "look for changed models so often; 0: only on SIGHUP"] = 0.0

    def __post_init__(self) -> None:
        problems = []
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, str | bool):
                continue
            least: float = 0 if field.name in MAY_BE_ZERO else 0.001
            if not least <= value <= MOST:
                words = "0 or more" if least == 0 else "more than 0"
                problems.append(f"server.{field.name} = {value} must be {words}, at most {MOST}")
        if self.batch_tokens > self.queue_tokens:
            problems.append(
                f"server.batch_tokens = {self.batch_tokens} is more than server.queue_tokens"
                f" = {self.queue_tokens}"
            )
        if problems:
            raise HeadwayError("\n".join(problems))


MAY_BE_ZERO = {"req_limit", "alternatives_limit", "wait_ms", "watch_seconds"}


def load(
    file: str | Path | None = None,
    overrides: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> ServerConfig:
    """Resolve the table ``[server]`` of a TOML file, the environment and the command line.

    Args:
        file: TOML.
        overrides: ``{"server.char-limit": "500"}``; they win.
        environment: ``HEADWAY_CHAR_LIMIT`` and so on, and those of `LIBRETRANSLATE`. The process's
            own unless given.

    Raises:
        HeadwayError: With one line for each mistake, naming its file, variable or option.
    """
    hints = get_type_hints(ServerConfig)
    problems: list[str] = []
    values: dict[str, Any] = {}

    def take(where: str, name: str, text: str) -> None:
        key = name.replace("-", "_")
        if key not in hints:
            problems.append(f"{where} is not a setting{nearest(key, hints)}")
            return
        try:
            values[key] = parse(text, hints[key])
        except ValueError as error:
            problems.append(f"{where} {error}")

    if file is not None:
        table = read_toml(file)
        for section in table.keys() - {"server"}:
            problems.append(f"{file}: [{section}] is not a section of a server; there is [server]")
        server = table.get("server", {})
        if not isinstance(server, dict):
            raise HeadwayError(f"{file}: server must be a table: write [server]")
        for name, value in server.items():
            if isinstance(value, bool | int | float | str):
                text = str(value).lower() if isinstance(value, bool) else str(value)
                take(f"{file}: server.{name}", name, text)
            else:
                problems.append(f"{file}: server.{name} must be a text, a number, true or false")
    environment = os.environ if environment is None else environment
    for variable, (name, unlimited) in LIBRETRANSLATE.items():
        text = environment.get(variable, "")
        text = unlimited if text == "-1" else text
        if text:
            take(variable, name, text)
    for name in hints:
        variable = f"HEADWAY_{name.upper()}"
        if environment.get(variable):
            take(variable, name, environment[variable])
    for option, text in (overrides or {}).items():
        take(f"--{option}", option.removeprefix("server."), text)
    if problems:
        raise HeadwayError("\n".join(problems))
    return replace(ServerConfig(), **values)


def unused(environment: Mapping[str, str]) -> list[str]:
    """Return the names of LibreTranslate's variables that ask for something that is not done here."""
    known = {*LIBRETRANSLATE, *OPTIONS, *ALWAYS}
    asked = (name for name, text in environment.items() if text.strip().lower() not in OFF)
    return sorted(name for name in asked if name.startswith("LT_") and name not in known)


def whole(name: str, text: str, most: int) -> int:
    """Return the number that an option or a variable says, from 0 to ``most``.

    Raises:
        HeadwayError: Naming it, if it is none.
    """
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        raise HeadwayError(f"{name} {text}: must be a whole number from 0 to {most}")
    return number
