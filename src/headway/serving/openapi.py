"""The OpenAPI 3.0 description of the server, rendered from the handlers' annotations."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from headway import __version__
from headway.config import ServerConfig
from headway.serving.files import Upload
from headway.serving.messages import Error, Event

Handler = Callable[..., Any]
Schema = dict[str, Any]
JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
REJECTIONS = {
    "400": "The request is wrong; the message says how.",
    "403": "The API key is wrong.",
    "408": "The body did not arrive in time.",
    "413": "The body has too many bytes.",
    "415": "The body is compressed.",
    "429": "Too many requests, of this client or of all; Retry-After says when to try again.",
    "500": "The model is damaged.",
    "503": "The deadline has passed.",
}
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}


class OpenAPI:
    """Collects the operations of a server.

    Args:
        codes: Codes of the served languages.
        config: Limits of the fields.
        needs_key: Whether every POST needs an API key.
    """

    def __init__(self, codes: Sequence[str], config: ServerConfig, needs_key: bool) -> None:
        self.codes, self.config, self.needs_key = list(codes), config, needs_key
        self.schemas: dict[str, Schema] = {}
        self.paths: dict[str, dict[str, Schema]] = {}

    def add_get(self, path: str, handler: Handler, media_type: str = JSON) -> None:
        """Add ``GET path``, answered by what the handler returns."""
        answer = get_type_hints(handler)["return"]
        schema = PLAIN[str] if media_type != JSON else self._schema(answer)
        self.paths[path] = {"get": self._operation(handler, media_type, schema, {})}

    def add_post(self, path: str, handler: Handler, is_stream: bool = False) -> None:
        """Add ``POST path``; the handler's first argument is the request.

        Args:
            path: The address.
            handler: Its annotations are the request and the answer.
            is_stream: The answer is a stream of server-sent events.
        """
        hints = get_type_hints(handler)
        request = next(iter(hints.values()))
        schema = self._schema(Event if is_stream else hints["return"])
        media_type = "text/event-stream" if is_stream else JSON
        operation = self._operation(handler, media_type, schema, REJECTIONS)
        if any(hint is Upload for hint in get_type_hints(request).values()):
            content = {FORMS[1]: {"schema": self._request(request, is_form=True)}}
        else:
            content = {JSON: {"schema": self._request(request, is_form=False)}}
            content |= {form: {"schema": self._request(request, is_form=True)} for form in FORMS}
        operation["requestBody"] = {"required": True, "content": content}
        self.paths[path] = {"post": operation}

    def add_download(self, path: str, endpoint: Handler) -> None:
        """Add ``GET path``, whose last part names a file."""
        schema = {"type": "string", "format": "binary"}
        operation = self._operation(
            endpoint, "application/octet-stream", schema, {"404": "There is no such file any more."}
        )
        name = {"name": "name", "in": "path", "required": True, "schema": PLAIN[str]}
        self.paths[path] = {"get": operation | {"parameters": [name]}}

    def add_disabled(self, path: str, summary: str) -> None:
        """Add ``POST path`` that always answers 403."""
        responses = self._rejections({"403": "Always."})
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
                "version": __version__,
                "description": "LibreTranslate's addresses and fields mean here what they mean"
                " there; /align, /attention and /stream are Headway's own. POST takes JSON, a form,"
                " or the query string; lists come only in JSON.",
                "license": {"name": "Apache-2.0"},
            },
            "paths": self.paths,
            "components": {"schemas": self.schemas},
        }

    def _operation(
        self, handler: Handler, media_type: str, schema: Schema, rejections: Mapping[str, str]
    ) -> Schema:
        summary = (inspect.getdoc(handler) or "").partition("\n")[0]
        ok = {"description": summary, "content": {media_type: {"schema": schema}}}
        responses = {"200": ok, **self._rejections(rejections)}
        return {"operationId": handler.__name__, "summary": summary, "responses": responses}

    def _rejections(self, rejections: Mapping[str, str]) -> dict[str, Schema]:
        error = {JSON: {"schema": self._schema(Error)}}
        return {
            status: {"description": words, "content": error} for status, words in rejections.items()
        }

    def _request(self, kind: Any, is_form: bool) -> Schema:
        """Return a reference to the schema of a request class; a form has no lists."""
        name = kind.__name__.removesuffix("Request") + ("FormRequest" if is_form else "Request")
        if name not in self.schemas:
            hints = get_type_hints(kind, include_extras=True)
            properties = {f.name: self._field(f.name, hints[f.name], is_form) for f in fields(kind)}
            properties["api_key"] = {"type": "string"}
            required = [f.name for f in fields(kind) if f.default is MISSING]
            required += ["api_key"] * self.needs_key
            description = inspect.getdoc(kind) or ""
            self.schemas[name] = {
                "type": "object", "description": description,
                "required": required, "properties": properties,
            }  # fmt: skip
        return {"$ref": f"#/components/schemas/{name}"}

    def _field(self, name: str, hint: Any, is_form: bool) -> Schema:
        """Return the schema of a request's field with the limits of this server."""
        setting, description = (*getattr(hint, "__metadata__", ()), "", "")[:2]
        limit = getattr(self.config, setting) if setting else None
        kind = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
        if name in ("source", "target"):
            return {"type": "string", "enum": ["auto"] * (name == "source") + self.codes}
        if kind is Upload:
            return {"type": "string", "format": "binary", "description": "The file."}
        schema = self._schema(kind)
        if kind is int:
            schema = {**schema, "minimum": 0, "maximum": limit}
        elif name == "q":
            text = {
                "type": "string",
                "minLength": 1,
                "example": "Has David already painted the wall?",
            }
            item = dict(PLAIN[str])
            if limit is not None:
                text["maxLength"] = item["maxLength"] = limit
            texts = {"type": "array", "minItems": 1, "items": item}
            if limit is not None:
                texts["maxItems"] = self.config.batch_limit
            schema = text if is_form or kind is str else {"oneOf": [text, texts]}
        elif limit is not None:
            schema = {**schema, "maxLength": limit}
        return {**schema, "description": description} if description else schema

    def _schema(self, hint: Any) -> Schema:
        """Return the schema of a type; classes become components."""
        if hint is Any:
            return {}
        if hint in PLAIN:
            return PLAIN[hint]
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"type": "string", "enum": list(arguments)}
        if origin is list:
            return {"type": "array", "items": self._schema(arguments[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self._schema(arguments[1])}
        if origin in (Union, UnionType):
            kinds = [self._schema(kind) for kind in arguments if kind is not NoneType]
            return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        assert is_typeddict(hint), hint
        if hint.__name__ not in self.schemas:
            self.schemas[hint.__name__] = {}  # a class may contain itself
            hints = get_type_hints(hint)
            self.schemas[hint.__name__] = {
                "type": "object",
                "description": inspect.getdoc(hint) or "",
                "required": sorted(hint.__required_keys__),
                "properties": {name: self._schema(kind) for name, kind in hints.items()},
            }
        return {"$ref": f"#/components/schemas/{hint.__name__}"}
