"""The OpenAPI 3.0 description of the server, rendered from the handlers' annotations."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, get_type_hints

from headway.ext.server.answers import DEEPL
from headway.ext.server.deepl.messages import DeepLError
from headway.ext.server.file_store import Upload
from headway.ext.server.messages import Error, Event
from headway.ext.server.schemas import API_KEY, PLAIN, Schema, Schemas, required_fields

Handler = Callable[..., Any]
# Of the addresses and their fields: see docs/stability.md. The second number is raised by an addition, the
# first by any other change.
API_VERSION = "2.0"
JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
REJECTIONS = {
    "400": "The request is wrong; the message says how.",
    "403": "The API key is wrong.",
    "408": "The body did not arrive in time.",
    "413": "The body has too many bytes, or takes too much work beside its translation.",
    "415": "The body is compressed.",
    "429": "Too many requests, of this client or of all; Retry-After says when to try again.",
    "500": "The model is damaged.",
    "503": "The deadline has passed.",
}
GONE = {"404": "There is no such file, glossary or document, or no more."}
# Where a server with keys looks for one; addresses other than DeepL's also take the field ``api_key``.
KEYS: Schema = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "deepl": {
        "type": "apiKey", "in": "header", "name": "Authorization",
        "description": "The words DeepL-Auth-Key KEY.",
    },
}  # fmt: skip
MEDIA_TYPES = {
    bytes: "application/octet-stream", str: "text/plain", Event: "text/event-stream",
}  # fmt: skip


class OpenAPI:
    """Collects the operations of a server.

    Args:
        schemas: Makes the schemas of requests and answers.
        needs_key: Whether requests that translate need an API key.
    """

    def __init__(self, schemas: Schemas, needs_key: bool) -> None:
        self.schemas, self.needs_key = schemas, needs_key
        self.paths: dict[str, dict[str, Schema]] = {}

    def add(
        self,
        method: str,
        path: str,
        handler: Handler,
        *,
        status: int = 200,
        answer: Any = None,
        rejections: Mapping[str, str] | None = None,
    ) -> None:
        """Add an operation.

        Args:
            method: get, post or delete.
            path: The address; a part in braces is a parameter.
            handler: Its annotations are the request, if it starts with one, and the answer.
            status: Of the answer.
            answer: The type of the answer, if the handler's annotation does not say it.
            rejections: Other statuses, and what they mean; None: `REJECTIONS` for POST.
        """
        hints = get_type_hints(handler)
        answer = answer or hints.pop("return")
        request = next((hint for hint in hints.values() if _is_request(hint)), None)
        summary = (inspect.getdoc(handler) or "").partition("\n")[0]
        ok: Schema = {"description": summary}
        if answer is not type(None):
            kind = MEDIA_TYPES.get(answer, JSON)
            ok["content"] = {kind: {"schema": self.schemas.of(answer)}}
        if rejections is None:
            rejections = REJECTIONS if method == "post" else {}
        name = handler.__name__ + (f"_by_{method}" if path in self.paths else "")
        operation: Schema = {
            "operationId": name, "summary": summary,
            "responses": {str(status): ok, **self._rejections(path, rejections)},
        }  # fmt: skip
        named: list[Schema] = [
            {"name": name, "in": "path", "required": True, "schema": PLAIN[str]}
            for name in re.findall(r"{(\w+)}", path)
        ]
        names = [each["name"] for each in named]
        if self.needs_key and "403" in rejections:
            operation["security"] = [{name: []} for name in KEYS]
        has_key = not path.startswith(DEEPL)
        if request is not None and method == "post":
            operation["requestBody"] = {
                "required": True,
                "content": self._body(request, has_key, names),
            }
        elif request is not None:
            schema = self.schemas.properties(request, is_form=True)
            required = required_fields(request)
            if has_key:
                schema["api_key"] = API_KEY
            named += [
                {"name": name, "in": "query", "required": name in required, "schema": of}
                for name, of in schema.items()
                if name not in names
            ]
        if named:
            operation["parameters"] = named
        self.paths.setdefault(path, {})[method] = operation

    def add_disabled(self, path: str, summary: str) -> None:
        """Add ``POST path`` that always answers 403."""
        responses = self._rejections(path, {"403": "Always."})
        name = path.strip("/")
        self.paths[path] = {
            "post": {"operationId": name, "summary": summary, "responses": responses}
        }

    def to_dict(self) -> Schema:
        """Return the whole description."""
        return {
            "openapi": "3.0.3",
            "info": {
                "title": "Headway",
                "version": API_VERSION,
                "description": "LibreTranslate's and DeepL's addresses and fields mean here what"
                " they mean there; /align, /attention and /stream are Headway's own. POST takes"
                " JSON, a form, or the query string; lists come only in JSON, or in DeepL's forms.",
                "license": {"name": "Apache-2.0"},
            },
            "paths": self.paths,
            "components": {"schemas": self.schemas.components, "securitySchemes": KEYS},
        }

    def _body(self, request: Any, has_key: bool, named: Sequence[str]) -> Schema:
        form = {"schema": self.schemas.of_request(request, True, has_key, named)}
        if any(hint is Upload for hint in get_type_hints(request).values()):
            return {FORMS[1]: form}
        return {
            JSON: {"schema": self.schemas.of_request(request, False, has_key, named)}
        } | dict.fromkeys(FORMS, form)

    def _rejections(self, path: str, rejections: Mapping[str, str]) -> dict[str, Schema]:
        error = self.schemas.of(DeepLError if path.startswith(DEEPL) else Error)
        content = {JSON: {"schema": error}}
        return {
            status: {"description": words, "content": content}
            for status, words in rejections.items()
        }


def _is_request(hint: Any) -> bool:
    return is_dataclass(hint) and getattr(hint, "__name__", "").endswith("Request")
