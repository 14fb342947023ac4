"""Requests to a server, read from lists; for tests/record and tests/outside/libretranslate.py.

Each line of a list is a JSON object. A line without a name has what the lines below it share, and the name of their
list. A line with a name is a request:

| key | meaning |
|---|---|
| `path`, `method` | of HTTP; without a method, POST if it has a body, or else GET |
| `json`, `form`, `multipart`, `query` | the fields, encoded in this way; pairs instead of an object may repeat a field |
| `every` | the fields, encoded in each of the four ways: four requests |
| `base`, `without` | fields to which those are added; names of fields that are left out |
| `files` | field, name and content of each file of a multipart body |
| `kind`, `body` | a body that is sent as it is, and its type |
| `key`, `headers` | an API key in its header; names and values of other headers |
| `ends` | see `Case` |

A long value is written `{"$repeat": [UNIT, COUNT]}`, where `{}` in a unit is its number, and `{"$join": [PARTS]}`. Bytes
that are not UTF-8 are `{"$bytes": TEXT}`, in Latin-1. A text or a page of tests/record/cases/texts.json is
`{"$text": NAME}` or `{"$page": NAME}`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

TEXTS = Path(__file__).parents[1] / "record" / "cases" / "texts.json"
ENCODINGS = ("json", "form", "multipart", "query")
BOUNDARY = "b0undary"
TYPES = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": f"multipart/form-data; boundary={BOUNDARY}",
}


class Case(NamedTuple):
    """A request.

    A value that the server makes by itself is written ``<FIELD of NAME>`` in the path, a header or the body, as it is
    in the record: FIELD of the answer to the case NAME.

    Args:
        name: Of the case; all of a server are different.
        method: Of HTTP.
        path: With its query string.
        headers: Names and values; ``Host`` and ``Content-Length`` are added if they are not among them.
        body: As sent.
        ends: The case is repeated until the field ``status`` of its answer is one of these.
    """

    name: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    ends: tuple[str, ...] = ()


def read_requests(path):
    """Return the requests of each list in a file."""
    found: dict[str, list[Case]] = {}
    shared: dict[str, Any] = {}
    for row in read_rows(path):
        if "name" in row:
            found.setdefault(shared["list"], []).extend(make_cases(shared | row))
        else:
            shared = row
    return found


def read_rows(path):
    """Return the objects of a file of JSON lines, with their long values."""
    return [
        _expand(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line
    ]


@cache
def read_texts():
    """Return the ``texts`` and the ``pages`` of requests, by their names."""
    found: dict[str, Any] = _expand(json.loads(TEXTS.read_text(encoding="utf-8")))
    return found


def make_cases(row):
    """Yield the requests of a line, which has what it shares with others."""
    for encoding in (
        ENCODINGS if "every" in row else [each for each in row if each in ENCODINGS] or [""]
    ):
        fields = row.get("every", row.get(encoding, {}))
        if isinstance(fields, dict):
            fields = row.get("base", {}) | fields
            fields = {
                name: value for name, value in fields.items() if name not in row.get("without", ())
            }
        case = _make_case(encoding, fields, row)
        yield (
            case._replace(name=f"{row['path']} {encoding}: {case.name}") if "every" in row else case
        )


def _make_case(encoding, fields, row):
    path, body = row["path"], _encode(row.get("body", ""))
    if encoding == "json":
        body = json.dumps(fields).encode()
    elif encoding == "multipart":
        body = write_multipart(fields, row.get("files", ()))
    elif encoding == "form":
        body = urlencode(fields).encode()
    elif encoding == "query":
        path = f"{path}?{urlencode(fields)}"
    kind = TYPES.get(encoding, row.get("kind", ""))
    headers = [("Content-Type", kind)] * bool(kind)
    headers += [("Authorization", f"Bearer {row['key']}")] if "key" in row else []
    headers += [(name, value) for name, value in row.get("headers", ())]
    method = row.get("method", "POST" if body or kind else "GET")
    return Case(row["name"], method, path, tuple(headers), body, tuple(row.get("ends", ())))


def write_multipart(fields, files=()):
    """Return the body of a form with files: the field, the name and the content of each."""
    head = '--{}\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
    parts = [
        head.format(BOUNDARY, name, "").encode() + str(value).encode("utf-8", "replace")
        for name, value in fields.items()
    ]
    for name, file, content in files:
        about = f'; filename="{file}"\r\nContent-Type: application/octet-stream'
        parts.append(head.format(BOUNDARY, name, about).encode() + _encode(content))
    return b"".join(part + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()


def _encode(content):
    return content.encode() if isinstance(content, str) else content


def _expand(value):
    """Replace the short forms of long values."""
    if isinstance(value, list):
        return [_expand(each) for each in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$text": str(name)}:
            return read_texts()["texts"][name]
        case {"$page": str(name)}:
            return read_texts()["pages"][name]
        case {"$repeat": [unit, int(count)]}:
            if isinstance(unit, list):
                return _expand(unit) * count
            return "".join(unit.replace("{}", str(number)) for number in range(count))
        case {"$join": parts}:
            return "".join(map(_expand, parts))
        case {"$bytes": text}:
            return _expand(text).encode("latin-1")
    return {key: _expand(each) for key, each in value.items()}
