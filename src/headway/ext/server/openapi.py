"""The OpenAPI 3.0 description of the server, rendered from the handlers' annotations."""

import inspect
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from headway.ext.server.answers import DEEPL
from headway.ext.server.deepl.messages import DeepLError
from headway.ext.server.files import TranslatedFile, Upload
from headway.ext.server.messages import Error, Event
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.validation import RequestField, list_fields

Schema = dict[str, Any]
Handler = Callable[..., Any]
# Of the addresses and their fields: see docs/stability.md. The second number is raised by an addition, the
# first by any other change.
API_VERSION = "2.1"
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
TOO_LONG = {"431": "The address has too many bytes; the HTTP server says so itself."}
GONE = {"404": "There is no such file, glossary or document, or no more."}
# Where a server with keys looks for one; addresses other than DeepL's also take the field ``api_key``.
KEYS: Schema = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "deepl": {
        "type": "apiKey", "in": "header", "name": "Authorization",
        "description": "The words DeepL-Auth-Key KEY.",
    },
}  # fmt: skip
API_KEY: Schema = {"type": "string", "description": "The key, if no header has it."}
# What a handler returns that is no JSON: the type of the answer, and of its parts.
MEDIA_TYPES: dict[Any, tuple[str, Any]] = {
    TranslatedFile: ("application/octet-stream", bytes),
    str: ("text/plain", str),
    AsyncGenerator[str, None]: ("text/event-stream", Event),
}
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "format": "binary"},
    Upload: {"type": "string", "format": "binary"},
    Any: {},
}


class Address(NamedTuple):
    """What answers the requests of one method to a path.

    Attributes:
        method: GET, POST or DELETE.
        path: A part in braces is a parameter.
        handler: Takes a request of `messages.py`, if it is annotated with one, and a `Context`; returns the answer.
        rejections: Statuses with an error, and what they mean.
        is_open: Whether it needs no key and no place among the requests, and reads no body.
        is_described: Whether ``/spec`` has it.
    """

    method: str
    path: str
    handler: Handler
    rejections: Mapping[str, str] = REJECTIONS
    is_open: bool = False
    is_described: bool = True

    @property
    def request(self) -> Any:
        """The class of its requests; None: it has no fields."""
        hints = get_type_hints(self.handler).values()
        return next((hint for hint in hints if _is_request(hint)), None)


def describe(
    addresses: Iterable[Address],
    config: ServerConfig,
    choices: Mapping[str, Sequence[str]],
    needs_key: bool,
) -> Schema:
    """Return the description of a server.

    Args:
        addresses: What it answers.
        config: Limits of the fields.
        choices: The values of fields that name languages.
        needs_key: Whether requests that translate need an API key.
    """
    schemas, paths = _Schemas(config, choices), dict[str, dict[str, Schema]]()
    for address in addresses:
        if address.is_described:
            methods = paths.setdefault(address.path, {})
            name = address.handler.__name__ + f"_by_{address.method.lower()}" * bool(methods)
            operation: Schema = {"operationId": name, **_describe_address(address, schemas)}
            if needs_key and not address.is_open:
                operation["security"] = [{name: []} for name in KEYS]
            methods[address.method.lower()] = operation
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
        "paths": paths,
        "components": {"schemas": schemas.components, "securitySchemes": KEYS},
    }


def _describe_address(address: Address, schemas: "_Schemas") -> Schema:
    answer = get_type_hints(address.handler)["return"]
    summary = (inspect.getdoc(address.handler) or "").partition("\n")[0]
    responses: Schema = {}
    if answer is NoneType:
        responses["204"] = {"description": summary}
    elif answer is not NoReturn:
        kind, part = MEDIA_TYPES.get(answer, (JSON, answer))
        content = {kind: {"schema": schemas.of(part)}}
        responses["200"] = {"description": summary, "content": content}
    error = schemas.of(DeepLError if address.path.startswith(DEEPL) else Error)
    for status, words in address.rejections.items():
        content = {} if status in TOO_LONG else {"content": {JSON: {"schema": error}}}
        responses[status] = {"description": words, **content}
    found: Schema = {"summary": summary, "responses": responses}
    named = dict.fromkeys(re.findall(r"{(\w+)}", address.path), PLAIN[str])
    parameters = [_parameter(name, schema, "path", True) for name, schema in named.items()]
    if address.request is not None and address.method == "GET":
        schema = schemas.of_request(address.request, address.path, named)
        parameters += [
            _parameter(name, of, "query", name in schema["required"])
            for name, of in schema["properties"].items()
        ]
    elif address.request is not None:
        name = address.request.__name__
        schemas.components[name] = schemas.of_request(address.request, address.path, named)
        has_file = any(hint is Upload for hint in get_type_hints(address.request).values())
        schema = {"schema": {"$ref": f"#/components/schemas/{name}"}}
        kinds = (FORMS[1],) if has_file else (JSON, *FORMS)
        found["requestBody"] = {"required": True, "content": dict.fromkeys(kinds, schema)}
    return found | ({"parameters": parameters} if parameters else {})


def _parameter(name: str, schema: Schema, place: str, is_required: bool) -> Schema:
    return {"name": name, "in": place, "required": is_required, "schema": schema}


class _Schemas:
    """Collects the schemas of a description; its arguments are those of `describe`."""

    def __init__(self, config: ServerConfig, choices: Mapping[str, Sequence[str]]) -> None:
        self.config, self.choices = config, choices
        self.components: dict[str, Schema] = {}

    def of_request(self, kind: Any, path: str, left_out: Iterable[str]) -> Schema:
        """Return the schema of a request class, without some of its fields."""
        fields = [each for each in list_fields(kind, self.config) if each.name not in left_out]
        properties = {field.name: self._of_field(field) for field in fields}
        if not path.startswith(DEEPL):
            properties["api_key"] = API_KEY
        return {
            "type": "object",
            "description": inspect.getdoc(kind) or "",
            "required": [field.name for field in fields if field.is_required],
            "properties": properties,
        }

    def _of_field(self, field: RequestField) -> Schema:
        """Return the schema of a request's field with the limits of this server."""
        if field.name in self.choices:
            return {"type": "string", "enum": list(self.choices[field.name])}
        schema = self.of(field.kind)
        if field.kind is int:
            schema |= {"minimum": 0, "maximum": field.limit}
        elif field.limit is not None:
            for each in schema.get("anyOf", [schema]):
                each.get("items", each)["maxLength"] = field.limit
                if "items" in each:
                    each["maxItems"] = self.config.batch_limit
        return schema | ({"description": field.description} if field.description else {})

    def of(self, hint: Any) -> Schema:
        """Return the schema of a type; classes become components."""
        if hint in PLAIN:
            return dict(PLAIN[hint])
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"type": "string", "enum": list(arguments)}
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if origin in (Union, UnionType):
            kinds = [self.of(kind) for kind in arguments if kind is not NoneType]
            return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        assert is_typeddict(hint), hint
        name = hint.__name__
        if name not in self.components:
            hints = get_type_hints(hint)
            self.components[name] = {
                "type": "object",
                "description": inspect.getdoc(hint) or "",
                "required": sorted(hint.__required_keys__),
                "properties": {field: self.of(kind) for field, kind in hints.items()},
            }
        return {"$ref": f"#/components/schemas/{name}"}


def _is_request(hint: Any) -> bool:
    return is_dataclass(hint) and getattr(hint, "__name__", "").endswith("Request")
