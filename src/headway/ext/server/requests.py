"""The fields of a request, from any of four encodings, with bounds on memory and time.

JSON, ``application/x-www-form-urlencoded``, ``multipart/form-data`` and the query string are all in
use by clients of LibreTranslate.
"""

import asyncio
import codecs
import json
from collections.abc import AsyncGenerator
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from headway.ext.server.answers import DEEPL
from headway.ext.server.files import Upload
from headway.ext.server.rejection import CLIENT_LEFT, Rejection
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.validation import RequestParser
from headway.text import SURROGATE

MAX_FIELDS = 32
# The charsets that a form may have, by Python's names. Others may take time that is quadratic in the length of the text, as punycode does.
CHARSETS = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")
UNREADABLE = "The browser (or proxy) sent a request that this server could not understand."


async def read_fields(
    request: Request, body: bytes, config: ServerConfig, parser: RequestParser[Any]
) -> dict[str, Any]:
    """Return a request's fields; only JSON has values other than text and an `Upload`.

    Args:
        request: The request.
        body: Its whole body.
        config: Limits.
        parser: Of the request. Fields that it does not know are left out, however large they are. Only a field that is one
            may be a file: a file in any other is the text of the field.

    Raises:
        Rejection: If the file is too large, or the body does not have the format that its type says.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body and request.method != "POST":
        kind = ""  # some clients name the type of a body that they do not send
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        found = _parse_json(body)
    else:
        found = await _read_form(request, kind, body, config, parser.has_file)
    return {name: _clean(found[name]) for name in parser.types if found.get(name) is not None}


async def _read_form(
    request: Request, kind: str, body: bytes, config: ServerConfig, has_file: bool
) -> dict[str, Any]:
    """Return the fields of a query string and a form."""
    # DeepL's clients repeat a field that is a list; of LibreTranslate's the first counts.
    is_deepl = request.scope["path"].startswith(DEEPL)
    most = MAX_FIELDS + config.batch_limit * is_deepl
    pairs = _parse_form(request.scope["query_string"], most)
    files: dict[str, Upload] = {}
    if kind == "application/x-www-form-urlencoded":
        pairs += _parse_form(body, most)
    elif kind == "multipart/form-data":
        strings, files = await _parse_multipart(request.headers, body, has_file, most)
        pairs += strings
        if any(len(upload.data) > config.file_limit > 0 for upload in files.values()):
            raise Rejection(413, f"The file is larger than {config.file_limit} bytes")
    # Line ends become one character, so that limits do not depend on the encoding.
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value.replace("\r\n", "\n").replace("\r", "\n"))
    return files | {
        name: values if is_deepl and len(values) > 1 else values[0]
        for name, values in texts.items()
    }


async def read_body(request: Request, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
    """Yield the parts of a body as they come, and count their bytes.

    Args:
        request: The request.
        limit: Bytes that the body may have.
        seconds: Time in which it must arrive.

    Raises:
        Rejection: 413 as soon as the body is too large, 408 if it does not arrive in time, 415 if it
            is compressed.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Rejection(415, "Compressed requests are not supported")
    too_large = Rejection(413, f"The request is larger than {limit} bytes")
    announced = request.headers.get("content-length", "0").strip(" \t")
    if not announced.isdecimal() or len(announced) > 18 or int(announced) > limit:
        raise too_large
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise too_large
                yield chunk
    except ClientDisconnect:
        raise Rejection(CLIENT_LEFT, "The client left") from None
    except TimeoutError:
        headers = {"Connection": "close"}
        raise Rejection(408, "The request did not arrive in time", headers) from None


def _parse_json(body: bytes) -> dict[str, Any]:
    try:
        # Some programs put a byte order mark before UTF-8.
        values = json.loads(body.decode("utf-8-sig"), parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Rejection(400, f"Invalid JSON format: {place}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise Rejection(400, f"Invalid JSON format: no UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise Rejection(400, "Invalid JSON format: too many lists in lists") from None
    except ValueError:
        message = "Invalid JSON format: it has NaN, Infinity or too long a number"
        raise Rejection(400, message) from None
    if not isinstance(values, dict):
        raise Rejection(400, "Invalid JSON format: send an object with the fields")
    return values


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _clean(value: Any) -> Any:
    """Replace halves of characters, which JSON can spell but no text can hold, in a text or a list of texts."""
    if isinstance(value, str):
        return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    return [_clean(each) for each in value] if isinstance(value, list) else value


def _parse_form(data: bytes, max_fields: int) -> list[tuple[str, str]]:
    try:
        text = data.decode("utf-8", "replace")
        return parse_qsl(text, keep_blank_values=True, max_num_fields=max_fields)
    except ValueError:
        raise Rejection(400, UNREADABLE) from None


async def _parse_multipart(
    headers: Headers, body: bytes, has_file: bool, max_fields: int
) -> tuple[list[tuple[str, str]], dict[str, Upload]]:
    """Return the texts and the file of a form."""
    _, options = parse_options_header(headers["content-type"])  # as the parser reads it
    try:
        is_read = (
            codecs.lookup(options.get(b"charset", b"utf-8").decode("latin-1")).name in CHARSETS
        )
    except (LookupError, ValueError):  # unknown, or no name at all
        is_read = False
    if not is_read:
        raise Rejection(400, "Invalid request: the charset of a form must be utf-8")

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        headers, stream(), max_files=max_fields, max_fields=max_fields, max_part_size=len(body) + 1
    )
    parser.spool_max_size = len(body) + 1  # files stay in memory: texts are never written to a disk
    try:
        form = await parser.parse()
    except (MultiPartException, ValueError, LookupError):
        raise Rejection(400, UNREADABLE) from None
    strings: list[tuple[str, str]] = []
    files: dict[str, Upload] = {}
    try:
        for name, value in form.multi_items():
            if isinstance(value, str):
                strings.append((name, value))
            elif not (has_file and name == "file" and value.filename):
                strings.append((name, _decode(name, await value.read())))
            elif files:
                raise Rejection(400, "Invalid request: send one file at a time")
            else:
                files[name] = Upload(value.filename, await value.read())
    finally:
        await form.close()
    return strings, files


def _decode(name: str, data: bytes) -> str:
    """Return the text of a field that a client sends as a file."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Rejection(
            400,
            f"Invalid request: {name} parameter is not UTF-8: send text, such as a .tsv file, and no workbook",
        ) from None
