"""A request's fields, from any of four encodings, without spending memory on what is too large.

JSON, ``application/x-www-form-urlencoded``, ``multipart/form-data`` and the query string are all in
use by clients of LibreTranslate.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from headway.serving.refusal import LEFT, Refusal
from headway.serving.settings import ServerConfig

MAX_FIELDS = 32
MAX_DEPTH = 8
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
# One that does not end goes on to the end of the body: else each quote in it would be looked at anew.
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udfff]")
BROKEN = "The browser (or proxy) sent a request that this server could not understand."


async def read_fields(request: Request, limits: ServerConfig) -> tuple[dict[str, Any], bool]:
    """Return a request's fields, and whether they came as JSON: only then may they be lists.

    Raises:
        Refusal: If the body is too large, too slow, or not what its type says.
    """
    body = await read_body(request, limits)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return _json(body, limits), True
    pairs = _pairs(request.scope["query_string"])
    if kind == "application/x-www-form-urlencoded":
        pairs += _pairs(body)
    elif kind == "multipart/form-data":
        pairs += await _multipart(request.headers, body)
    # Line ends are made one character, so that limits do not depend on the encoding.
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields.setdefault(name, value.replace("\r\n", "\n").replace("\r", "\n"))
    return fields, False


async def read_body(request: Request, limits: ServerConfig) -> bytes:
    """Receive a body, counting its bytes as they come.

    Raises:
        Refusal: 413 as soon as it is too large, 408 if it does not arrive in time, 415 if it is
            compressed.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refusal(415, "Compressed requests are not supported")
    announced = request.headers.get("content-length", "0").strip(" \t")
    if not announced.isdecimal() or len(announced) > 18 or int(announced) > limits.body_limit:
        raise Refusal(413, f"The request is larger than {limits.body_limit} bytes")
    body = bytearray()
    try:
        async with asyncio.timeout(limits.idle_seconds):
            async for chunk in request.stream():
                if len(body) + len(chunk) > limits.body_limit:
                    raise Refusal(413, f"The request is larger than {limits.body_limit} bytes")
                body += chunk
    except ClientDisconnect:
        raise Refusal(LEFT, "The client left") from None
    except TimeoutError:
        raise Refusal(408, "The request did not arrive in time", {"Connection": "close"}) from None
    return bytes(body)


def _json(body: bytes, limits: ServerConfig) -> dict[str, Any]:
    # What is not text tells how much structure there is, before any of it is built.
    bare = _STRINGS.sub(b"", body)
    most = 16 * limits.batch_limit + 8 * MAX_FIELDS
    if sum(bare.count(mark) for mark in (b",", b"[", b"{", b":")) > most:
        raise Refusal(400, "Invalid JSON format")
    brackets = bare.translate(None, NO_BRACKETS)
    if len(brackets) > 2 * most:
        raise Refusal(400, "Invalid JSON format")
    depth = 0
    for byte in brackets:
        depth += 1 if byte in b"[{" else -1
        if depth > MAX_DEPTH:
            raise Refusal(400, "Invalid JSON format")
    try:
        # Some programs begin UTF-8 with a byte order mark.
        values = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, BROKEN) from None
    if not isinstance(values, dict):
        raise Refusal(400, "Invalid JSON format")
    return {name: clean(value) for name, value in values.items()}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def clean(value: Any) -> Any:
    """Replace halves of characters, which JSON can spell but no text can hold."""
    if isinstance(value, str):
        return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)
    return [clean(item) for item in value] if isinstance(value, list) else value


def _pairs(data: bytes) -> list[tuple[str, str]]:
    try:
        text = data.decode("utf-8", "replace")
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise Refusal(400, BROKEN) from None


async def _multipart(headers: Headers, body: bytes) -> list[tuple[str, str]]:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        headers, stream(), max_files=0, max_fields=MAX_FIELDS, max_part_size=len(body) + 1
    )
    try:
        form = await parser.parse()
    except (MultiPartException, ValueError, LookupError):
        raise Refusal(400, BROKEN) from None
    return [(name, clean(value)) for name, value in form.multi_items() if isinstance(value, str)]
