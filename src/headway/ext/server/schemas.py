"""The JSON schemas of requests and answers, rendered from their classes."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from headway.ext.server.file_store import Upload
from headway.ext.server.server_settings import ServerConfig

Schema = dict[str, Any]
PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "format": "binary"},
}


API_KEY: Schema = {"type": "string", "description": "The key, if no header has it."}


def required_fields(kind: Any) -> list[str]:
    """Return the names of a request class's fields that have no default."""
    return [field.name for field in fields(kind) if field.default is MISSING]


class Schemas:
    """Collects the schemas of a description.

    Args:
        choices: The values of fields that name languages.
        config: Limits of the fields.
    """

    def __init__(self, choices: Mapping[str, Sequence[str]], config: ServerConfig) -> None:
        self.choices, self.config = choices, config
        self.components: dict[str, Schema] = {}

    def of_request(
        self, kind: Any, is_form: bool = False, has_key: bool = True, left_out: Sequence[str] = ()
    ) -> Schema:
        """Return a reference to the schema of a request class.

        Args:
            kind: The class.
            is_form: Describe a form, which has no lists.
            has_key: Whether it has a field for the API key.
            left_out: Fields that the address holds.
        """
        name = kind.__name__.removesuffix("Request") + ("FormRequest" if is_form else "Request")
        if name not in self.components:
            properties = self.properties(kind, is_form)
            for field in left_out:
                del properties[field]
            required = [name for name in required_fields(kind) if name in properties]
            if has_key:
                properties["api_key"] = API_KEY
            description = inspect.getdoc(kind) or ""
            self.components[name] = {
                "type": "object", "description": description,
                "required": required, "properties": properties,
            }  # fmt: skip
        return {"$ref": f"#/components/schemas/{name}"}

    def properties(self, kind: Any, is_form: bool = False) -> dict[str, Schema]:
        """Return the schema of each field of a request class."""
        hints = get_type_hints(kind, include_extras=True)
        return {f.name: self._field(f.name, hints[f.name], is_form) for f in fields(kind)}

    def _field(self, name: str, hint: Any, is_form: bool) -> Schema:
        """Return the schema of a request's field with the limits of this server."""
        setting, description = (*getattr(hint, "__metadata__", ()), "", "")[:2]
        limit = getattr(self.config, setting) if setting else None
        kind = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
        if name in self.choices:
            return {"type": "string", "enum": list(self.choices[name])}
        if kind is Upload:
            return {"type": "string", "format": "binary", "description": "The file."}
        schema = self.of(kind)
        if kind is int:
            schema = {**schema, "minimum": 0, "maximum": limit}
        elif name in ("q", "text"):
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

    def of(self, hint: Any) -> Schema:
        """Return the schema of a type; classes become components."""
        if hint is Any:
            return {}
        if hint in PLAIN:
            return PLAIN[hint]
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
        if hint.__name__ not in self.components:
            self.components[hint.__name__] = {}  # a class may contain itself
            hints = get_type_hints(hint)
            self.components[hint.__name__] = {
                "type": "object",
                "description": inspect.getdoc(hint) or "",
                "required": sorted(hint.__required_keys__),
                "properties": {name: self.of(kind) for name, kind in hints.items()},
            }
        return {"$ref": f"#/components/schemas/{hint.__name__}"}
