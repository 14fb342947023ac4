"""Makes the requests of `messages.py` of the fields that clients send."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from headway.ext.server.files import Upload
from headway.ext.server.rejection import Rejection, missing_field, too_long
from headway.ext.server.server_settings import ServerConfig

R = TypeVar("R")
FLAGS = dict.fromkeys(("1", "true", "yes", "on"), True)
FLAGS |= dict.fromkeys(("0", "false", "no", "off"), False)


class RequestField(NamedTuple):
    """A field of a request.

    Attributes:
        name: Its name.
        kind: Its type; a field that may be missing is no other type for that.
        limit: The largest number, or the most characters of a text; None: any.
        description: For ``/spec``, or "".
        is_required: Whether it has no default.
    """

    name: str
    kind: Any
    limit: int | None
    description: str
    is_required: bool

    @property
    def has_lists(self) -> bool:
        """Whether it may be a list of texts."""
        return list[str] in get_args(self.kind)


def list_fields(kind: Any, config: ServerConfig) -> list[RequestField]:
    """Return the fields of a request class, with the limits of a server."""
    hints, annotated = get_type_hints(kind), get_type_hints(kind, include_extras=True)
    found = []
    for field in dataclasses.fields(kind):
        setting, description = (*getattr(annotated[field.name], "__metadata__", ()), "", "")[:2]
        limit = getattr(config, setting) if setting else None
        is_required = field.default is dataclasses.MISSING
        found.append(RequestField(field.name, hints[field.name], limit, description, is_required))
    return found


class RequestParser(Generic[R]):
    """Makes requests of one class.

    Args:
        kind: A request class of `messages.py`. Its annotations are read once: that takes longer than
            to parse a request.
        config: Limits.
    """

    def __init__(self, kind: type[R], config: ServerConfig) -> None:
        self.kind, self.batch_limit = kind, config.batch_limit
        self.fields = list_fields(kind, config)
        self.has_file = any(field.kind is Upload for field in self.fields)

    def parse(self, fields: Mapping[str, object]) -> R:
        """Make a request of its fields, from `read_fields`; empty ones count as missing, and unknown ones are ignored.

        Raises:
            Rejection: 400 for the first field that is missing, wrong or over its limit.
        """
        values: dict[str, Any] = {}
        for field in self.fields:
            value = fields.get(field.name)
            # LibreTranslate's number of alternatives must not be empty.
            if value is None or (value in ("", []) and field.kind is not int):
                if field.is_required:
                    raise missing_field(field.name)
            else:
                values[field.name] = self._check(field, value)
        return self.kind(**values)

    def _check(self, field: RequestField, value: Any) -> Any:
        name, kind, wrong = field.name, field.kind, f"Invalid request: {field.name} parameter"
        if kind is Upload:
            if not isinstance(value, Upload) or not value.name:
                raise missing_field(name)
            return value
        if kind is int:
            try:
                count = max(0, int(value))
            except (ValueError, OverflowError, TypeError):
                raise Rejection(400, f"{wrong} is not a number") from None
            if field.limit is not None and count > field.limit:
                raise Rejection(400, f"{wrong} must be <= {field.limit}")
            return count
        if kind is bool:
            if str(value).lower() not in FLAGS:
                raise Rejection(400, f"{wrong} is not true or false")
            return FLAGS[str(value).lower()]
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                shown = value[:20] if isinstance(value, str) else "this"
                raise Rejection(400, f"{shown} {name} is not supported")
            return value
        texts = value if isinstance(value, list) and field.has_lists else [value]
        if not all(isinstance(text, str) for text in texts):
            raise Rejection(
                400, f"{wrong} is not a string{' or a list of strings' * field.has_lists}"
            )
        if field.limit is not None:
            self._check_sizes(name, texts, field.limit)
        return value

    def _check_sizes(self, name: str, texts: list[str], limit: int) -> None:
        sizes = [(len(texts), self.batch_limit), *((len(text), limit) for text in texts)]
        for size, most in sizes:
            if size > most and name == "q":  # the message is LibreTranslate's
                raise too_long(size, most)
            if size > most:
                message = f"Invalid request: {name} parameter ({size}) exceeds its limit ({most})"
                raise Rejection(400, message)
