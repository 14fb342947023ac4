"""The fields of a request, from any of four encodings, with bounds on memory and time.

JSON, ``application/x-www-form-urlencoded``, ``multipart/form-data`` and the query string are all in
use by clients of LibreTranslate.
"""

import codecs
import re
from functools import partial
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from python_multipart.multipart import Field, File, create_form_parser
from starlette.datastructures import Headers
from starlette.requests import Request

from headway.ext.server.answers import DEEPL
from headway.ext.server.files import Upload
from headway.ext.server.rejection import Rejection
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account, TextThreads
from headway.ext.server.validation import RequestParser

MAX_FIELDS = 32
SHORT = 16_384  # bytes that the event loop reads; more would keep other requests waiting
FORM, FILE_FORM = "application/x-www-form-urlencoded", "multipart/form-data"
# An escape of JSON: a pair of halves of a character, one half alone, or any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)",
    re.DOTALL,
)
UNREADABLE = "The browser (or proxy) sent a request that this server could not understand."
NO_JSON = "Invalid request: a body of JSON needs the header Content-Type: application/json"


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
    read = partial(_read, request, kind, body, parser, MAX_FIELDS + config.batch_limit)
    is_short = len(body) < SHORT
    found = read() if is_short else await threads.run(read, Account.for_characters(len(body)))
    for value in found.values():
        if isinstance(value, Upload) and len(value.data) > config.file_limit:
            raise Rejection(413, f"The file is larger than {config.file_limit} bytes")
    return {name: found[name] for name in parser.types if found.get(name) is not None}


def _read(
    request: Request, kind: str, body: bytes, parser: RequestParser[Any], most: int
) -> dict[str, Any]:
    """Return the fields of a query string and of a body of this kind; forms have at most so many."""
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return _parse_json(body, parser)
    if kind != FILE_FORM and body.lstrip()[:1] == b"{":  # no field of a form begins so
        raise Rejection(400, NO_JSON)
    pairs: list[tuple[str, str | Upload]] = [*_parse_form(request.scope["query_string"], most)]
    if kind == FORM:
        pairs += _parse_form(body, most)
    elif kind == FILE_FORM:
        boundary = request.headers["content-type"].encode("latin-1")
        pairs += _parse_multipart(boundary, body, parser.has_file, most)
    found: dict[str, list[str | Upload]] = {}
    for name, value in pairs:
        if isinstance(value, str):  # so that limits do not depend on the encoding
            value = value.replace("\r\n", "\n").replace("\r", "\n")
        elif name in found:
            raise Rejection(400, "Invalid request: send one file at a time")
        found.setdefault(name, []).append(value)
    # DeepL's clients repeat a field that is a list; of LibreTranslate's the first counts.
    is_list = request.scope["path"].startswith(DEEPL)
    return {n: values if is_list and len(values) > 1 else values[0] for n, values in found.items()}


def check_body(headers: Headers, limit: int) -> None:
    """Check what the header of a request says of its body, which may have so many bytes.

    Raises:
        Rejection: 413 if it is too large, 415 if it is compressed.
    """
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Rejection(415, "Compressed requests are not supported")
    announced = headers.get("content-length", "0").strip(" \t")
    if not announced.isdecimal() or len(announced) > 18 or int(announced) > limit:
        raise too_large(limit)


def too_large(limit: int) -> Rejection:
    """Return the rejection of a body that has more bytes than it may have."""
    return Rejection(413, f"The request is larger than {limit} bytes")


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
        found = re.search(r"`\$\.(\w+)", str(error))
        of_field = f"{found[1]} parameter: send a text, a number or a list of them" if found else ""
        problem = of_field or "send an object with the fields"
        raise Rejection(400, f"Invalid JSON format: {problem}") from None
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


def _parse_multipart(
    kind: bytes, body: bytes, has_file: bool, most: int
) -> list[tuple[str, str | Upload]]:
    """Return names and values; ``kind`` is the header that says what stands between them."""
    parts: list[Field | File] = []

    def keep(part: Field | File) -> None:
        if len(parts) == most:
            raise ValueError
        parts.append(part)

    try:
        # Files stay in memory: texts are never written to a disk.
        config = {"MAX_MEMORY_FILE_SIZE": len(body)}
        parser = create_form_parser({"Content-Type": kind}, keep, keep, config)
        parser.write(body)
        parser.finalize()
    except ValueError:
        raise Rejection(400, UNREADABLE) from None
    return [_read_part(part, has_file) for part in parts]


def _read_part(part: Field | File, has_file: bool) -> tuple[str, str | Upload]:
    """Return the name and the value of a part of a form; a file that is sent for a field of text is read as its text."""
    name = (part.field_name or b"").decode("utf-8", "replace")
    if isinstance(part, Field):
        data = part.value or b""
    else:
        part.file_object.seek(0)
        data = part.file_object.read()
        if has_file and name == "file" and part.file_name:
            return name, Upload(part.file_name.decode("utf-8", "replace"), data)
    try:
        return name, data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Rejection(
            400,
            f"Invalid request: {name[:20]} parameter is not UTF-8: send text, such as a .tsv file, and no workbook",
        ) from None
