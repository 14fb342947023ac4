"""Requests to a server: how one is written, and its encodings."""

import json
from typing import Any, NamedTuple
from urllib.parse import urlencode

BOUNDARY = "b0undary"
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


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

    def with_header(self, name: str, value: str) -> "Case":
        """Return the case with another header."""
        return self._replace(headers=(*self.headers, (name, value)))

    def with_key(self, key: str) -> "Case":
        """Return the case with an API key in its header."""
        return self.with_header("Authorization", f"Bearer {key}")


def get(name: str, path: str, /, **fields: object) -> Case:
    """Return a request with the fields in its address."""
    return Case(name, "GET", f"{path}?{urlencode(fields)}" if fields else path)


def post(name: str, path: str, kind: str, body: bytes | str) -> Case:
    """Return a request with a body as it is."""
    data = body.encode() if isinstance(body, str) else body
    return Case(name, "POST", path, (("Content-Type", kind),) if kind else (), data)


def by_json(name: str, path: str, /, **fields: Any) -> Case:
    """Return a request with its fields as JSON."""
    return post(name, path, JSON, json.dumps(fields))


def by_form(name: str, path: str, /, *pairs: tuple[str, str], **fields: str) -> Case:
    """Return a request with its fields as a form; pairs may repeat a field."""
    return post(name, path, FORM, urlencode([*fields.items(), *pairs]))


def by_parts(name: str, path: str, /, *files: tuple[str, str, bytes], **fields: str) -> Case:
    """Return a request as ``multipart/form-data``.

    Args:
        name: Of the case.
        path: Of the request.
        files: The field, the name and the content of each file.
        fields: Other fields.
    """
    head = '--{}\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
    parts = [
        head.format(BOUNDARY, key, "").encode() + value.encode() + b"\r\n"
        for key, value in fields.items()
    ]
    for key, file, content in files:
        start = head.format(
            BOUNDARY, key, f'; filename="{file}"\r\nContent-Type: application/octet-stream'
        )
        parts.append(start.encode() + content + b"\r\n")
    return post(name, path, MULTIPART, b"".join([*parts, f"--{BOUNDARY}--\r\n".encode()]))
