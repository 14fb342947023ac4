"""The OpenAPI 3.0 description of the server: the schemas are msgspec's, of what the handlers take and return."""

import inspect
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from types import NoneType
from typing import Any, NamedTuple, NoReturn, get_type_hints

from msgspec import StructMeta
from msgspec.json import schema_components

from headway.ext.server.answers import DEEPL
from headway.ext.server.deepl.messages import DeepLError
from headway.ext.server.files import TranslatedFile, Upload
from headway.ext.server.messages import Error, Event
from headway.ext.server.validation import define_request

Schema = dict[str, Any]
Handler = Callable[..., Any]
# Of the addresses and their fields: see docs/stability.md. The second number is raised by an addition, the
# first by any other change.
API_VERSION = "2.3"
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
FILE: Schema = {"type": "string", "format": "binary"}
# What a handler returns that is no JSON: the type of the answer, and of its parts.
MEDIA_TYPES: dict[Any, tuple[str, Any]] = {
    TranslatedFile: ("application/octet-stream", Upload),
    str: ("text/plain", str),
    AsyncGenerator[str, None]: ("text/event-stream", Event),
}


class Address(NamedTuple):
    """What answers the requests of one method to a path.

    Attributes:
        method: GET, POST or DELETE.
        path: A part in braces is a parameter.
        handler: Takes a request of `messages.py`, if it is annotated with one, and a `Context`; returns the answer.
        rejections: Statuses with an error, and what they mean.
        is_open: Whether it needs no key and no place among the requests, and reads no body.
    """

    method: str
    path: str
    handler: Handler
    rejections: Mapping[str, str] = REJECTIONS
    is_open: bool = False

    @property
    def request(self) -> Any:
        """The class of its requests; None: it has no fields."""
        hints = get_type_hints(self.handler).values()
        return next((hint for hint in hints if issubclass(type(hint), StructMeta)), None)


def describe(addresses: Iterable[Address], types: Mapping[str, Any], needs_key: bool) -> Schema:
    """Return the description of a server.

    Args:
        addresses: What it answers.
        types: Those of its requests, from `list_types`.
        needs_key: Whether requests that translate need an API key.
    """
    components: dict[str, Schema] = {}
    paths: dict[str, dict[str, Schema]] = {}
    for address in addresses:
        method = address.method.lower()
        name = re.sub(r"\W+", "_", f"{method}{address.path}").strip("_")
        operation = {"operationId": name, **_describe_address(address, types, components)}
        if needs_key and not address.is_open:
            operation["security"] = [{name: []} for name in KEYS]
        paths.setdefault(address.path, {})[method] = operation
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
        "components": {"schemas": components, "securitySchemes": KEYS},
    }


def _describe_address(
    address: Address, types: Mapping[str, Any], components: dict[str, Schema]
) -> Schema:
    answer = get_type_hints(address.handler)["return"]
    summary = (inspect.getdoc(address.handler) or "").partition("\n")[0]
    responses: Schema = {}
    if answer is NoneType:
        responses["204"] = {"description": summary}
    elif answer is not NoReturn:
        kind, part = MEDIA_TYPES.get(answer, (JSON, answer))
        content = {kind: {"schema": _refer_to(part, components)}}
        responses["200"] = {"description": summary, "content": content}
    error = _refer_to(DeepLError if address.path.startswith(DEEPL) else Error, components)
    for status, words in address.rejections.items():
        content = {} if status in TOO_LONG else {"content": {JSON: {"schema": error}}}
        responses[status] = {"description": words, **content}
    found: Schema = {"summary": summary, "responses": responses}
    parameters = [
        _parameter(name, {"type": "string"}, "path", True)
        for name in re.findall(r"{(\w+)}", address.path)
    ]
    if address.request is not None:
        schema = _refer_to(define_request(address.request, types), components)
        fields = components[address.request.__name__]
        if address.method == "GET":
            parameters += [
                _parameter(name, of, "query", name in fields["required"])
                for name, of in fields["properties"].items()
            ]
        else:
            has_file = FILE in fields["properties"].values()
            kinds = (FORMS[1],) if has_file else (JSON, *FORMS)
            content = {kind: {"schema": schema} for kind in kinds}
            found["requestBody"] = {"required": True, "content": content}
    return found | ({"parameters": parameters} if parameters else {})


def _refer_to(kind: Any, components: dict[str, Schema]) -> Schema:
    """Return the schema of a type; classes become components."""
    [found], classes = schema_components(
        [kind], schema_hook=lambda _: FILE, ref_template="#/components/schemas/{name}"
    )
    components |= classes
    return found


def _parameter(name: str, schema: Schema, place: str, is_required: bool) -> Schema:
    return {"name": name, "in": place, "required": is_required, "schema": schema}
