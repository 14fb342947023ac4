"""The fields of a request, from any of four encodings, with bounds on memory and time.

JSON, ``application/x-www-form-urlencoded``, ``multipart/form-data`` and the query string are all in
use by clients of LibreTranslate.
"""

import asyncio
import codecs
import re
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from headway.ext.server.answers import DEEPL
from headway.ext.server.files import Upload
from headway.ext.server.rejection import CLIENT_LEFT, Rejection
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account, TextThreads
from headway.ext.server.validation import RequestParser

MAX_FIELDS = 32
SHORT = 16_384  # bytes that the event loop reads; more would keep other requests waiting
FORM, FILE_FORM = "application/x-www-form-urlencoded", "multipart/form-data"
# The charsets that a form may have. Others may take time that is quadratic in the length of the text, as punycode does.
CHARSETS = (
    "utf-8", "utf8", "ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "iso-8859-15", "iso8859-15",
    "cp1252", "windows-1252",
)  # fmt: skip
# An escape of JSON: a pair of halves of a character, one half alone, or any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)",
    re.DOTALL,
)
UNREADABLE = "The browser (or proxy) sent a request that this server could not understand."


def is_file_form(request: Request) -> bool:
    """Return whether the body of a request is the only kind of form that can hold a file."""
    return _body_type(request) == FILE_FORM


def _body_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_fields(
    request: Request,
    body: bytes,
    config: ServerConfig,
    parser: RequestParser[Any],
    threads: TextThreads,
) -> dict[str, Any]:
    """Return a request's fields; only JSON has values other than text and an `Upload`.

    Args:
        request: The request.
        body: Its whole body.
        config: Limits.
        parser: Of the request. Fields that it does not know are left out, however large they are. Only a field that is one
            may be a file: a file in any other is the text of the field.
        threads: Read a long body.

    Raises:
        Rejection: If the file is too large, or the body does not have the format that its type says.
    """
    kind = _body_type(request)
    if not body and request.method != "POST":
        kind = ""  # some clients name the type of a body that they do not send
    # DeepL's clients repeat a field that is a list; of LibreTranslate's the first counts.
    is_deepl = request.scope["path"].startswith(DEEPL)
    most = MAX_FIELDS + config.batch_limit * is_deepl
    query, files = request.scope["query_string"], dict[str, Upload]()
    if kind == FILE_FORM:
        pairs, files = await _parse_multipart(request.headers, body, parser.has_file, most)
        if any(len(upload.data) > config.file_limit > 0 for upload in files.values()):
            raise Rejection(413, f"The file is larger than {config.file_limit} bytes")
        found = files | _collect([*_parse_form(query, most), *pairs], is_deepl)
    else:
        read = partial(_read_texts, kind, query, body, parser, most, is_deepl)
        is_short = len(body) < SHORT
        found = read() if is_short else await threads.run(read, Account.for_characters(len(body)))
    return {name: found[name] for name in parser.types if found.get(name) is not None}


def _read_texts(
    kind: str, query: bytes, body: bytes, parser: RequestParser[Any], most: int, is_deepl: bool
) -> dict[str, Any]:
    """Return the fields of a query string and a body of JSON or of a form without files."""
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return _parse_json(body, parser)
    pairs = _parse_form(query, most) + (_parse_form(body, most) if kind == FORM else [])
    return _collect(pairs, is_deepl)


def _collect(pairs: list[tuple[str, str]], is_deepl: bool) -> dict[str, Any]:
    """Return the fields of a form; line ends become one character, so that limits do not depend on the encoding."""
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value.replace("\r\n", "\n").replace("\r", "\n"))
    return {
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


def _parse_json(body: bytes, parser: RequestParser[Any]) -> dict[str, Any]:
    """Return the fields of an object of JSON; of what no field can hold nothing is kept in memory.

    Halves of characters, which JSON can spell but no text can hold, are replaced.
    """
    body = body.removeprefix(codecs.BOM_UTF8)  # some programs put it before UTF-8
    try:
        try:
            return parser.decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            return parser.decode(_ESCAPE.sub(lambda e: b"\\ufffd" if e[1] else e[0], body))
    except msgspec.ValidationError as error:
        raise parser.explain_json(str(error)) from None
    except RecursionError:
        raise Rejection(400, "Invalid JSON format: too many lists in lists") from None
    except msgspec.DecodeError as error:
        problem, _, at = str(error).removeprefix("JSON is malformed: ").partition(" (byte ")
        before = body[: int(at.rstrip(")"))] if at else body
        line, column = 1 + before.count(b"\n"), len(before) - before.rfind(b"\n")
        raise Rejection(
            400, f"Invalid JSON format: line {line}, column {column}: {problem}"
        ) from None


def _parse_form(data: bytes, most: int) -> list[tuple[str, str]]:
    """Return names and values; as bytes, they are decoded in less time than as text."""
    if data.count(b"&") >= most:
        raise Rejection(400, UNREADABLE)
    found = (pair.replace(b"+", b" ").partition(b"=") for pair in data.split(b"&") if pair)
    return [(_unquote(name), _unquote(value)) for name, _, value in found]


def _unquote(given: bytes) -> str:
    return unquote_to_bytes(given).decode("utf-8", "replace")


async def _parse_multipart(
    headers: Headers, body: bytes, has_file: bool, max_fields: int
) -> tuple[list[tuple[str, str]], dict[str, Upload]]:
    """Return the texts and the file of a form."""
    _, options = parse_options_header(headers["content-type"])  # as the parser reads it
    charset = options.get(b"charset", b"utf-8").decode("latin-1").lower()
    if charset not in CHARSETS:
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
