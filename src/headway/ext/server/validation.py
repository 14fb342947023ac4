"""Makes the requests of `messages.py` of the fields that clients send."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from headway.ext.server.file_store import Upload
from headway.ext.server.rejection import Rejection, missing_field, too_long
from headway.ext.server.server_settings import ServerConfig

R = TypeVar("R")
FLAGS = dict.fromkeys(("1", "true", "yes", "on"), True)
FLAGS |= dict.fromkeys(("0", "false", "no", "off"), False)


class RequestParser(Generic[R]):
    """Makes requests of one class.

    Args:
        kind: A request class of `messages.py`. Its annotations are read once: that takes longer than
            to parse a request.
        config: Limits.
    """

    def __init__(self, kind: type[R], config: ServerConfig) -> None:
        self.kind, self.config = kind, config
        annotated = get_type_hints(kind, include_extras=True)
        self._fields: list[tuple[str, Any, int | None]] = []
        for name, hint in get_type_hints(kind).items():
            setting = next(iter(getattr(annotated[name], "__metadata__", ())), "")
            self._fields.append((name, hint, getattr(config, setting) if setting else None))

    def parse(self, fields: Mapping[str, object]) -> R:
        """Make a request of its fields, from `read_fields`; unknown fields are ignored.

        Raises:
            Rejection: 400 for the first field that is missing, wrong or over its limit.
        """
        values: dict[str, Any] = {}
        for name, hint, limit in self._fields:
            value = fields.get(name)
            if hint is Upload:
                values[name] = _parse_file(name, value)
            elif hint is str:
                values[name] = _parse_text(name, value, limit)
            elif hint == str | None:
                values[name] = _parse_text(name, value, limit) if value else None
            elif hint == str | list[str] | None:
                texts = _parse_texts(name, value, limit, self.config.batch_limit) if value else None
                values[name] = texts
            elif hint == str | list[str]:
                values[name] = _parse_texts(name, value, limit, self.config.batch_limit)
            elif hint is int:
                values[name] = _parse_count(name, value, limit)
            elif hint is bool:
                values[name] = _parse_flag(name, value, getattr(self.kind, name))
            else:
                values[name] = _parse_choice(name, value, get_args(hint))
        return self.kind(**values)


def _parse_text(name: str, value: object, limit: int | None) -> str:
    if value is None or value == "":
        raise missing_field(name)
    if not isinstance(value, str):
        raise Rejection(400, f"Invalid request: {name} parameter is not a string")
    if limit is not None and len(value) > limit:
        raise _over_limit(name, len(value), limit)
    return value


def _parse_file(name: str, value: object) -> Upload:
    if not isinstance(value, Upload) or not value.name:
        raise missing_field(name)
    return value


def _parse_texts(name: str, value: object, limit: int | None, batch_limit: int) -> str | list[str]:
    if value is None or value in ("", []):
        raise missing_field(name)
    texts: list[Any] = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        message = f"Invalid request: {name} parameter is not a string or a list of strings"
        raise Rejection(400, message)
    if limit is not None:
        if len(texts) > batch_limit:
            raise _over_limit(name, len(texts), batch_limit)
        for text in texts:
            if len(text) > limit:
                raise _over_limit(name, len(text), limit)
    return texts if isinstance(value, list) else texts[0]


def _over_limit(name: str, size: int, limit: int) -> Rejection:
    if name == "q":  # the message is LibreTranslate's
        return too_long(size, limit)
    return Rejection(400, f"Invalid request: {name} parameter ({size}) exceeds its limit ({limit})")


def _parse_count(name: str, value: Any, limit: int | None) -> int:
    try:
        count = 0 if value is None else max(0, int(value))
    except (ValueError, OverflowError, TypeError):
        raise Rejection(400, f"Invalid request: {name} parameter is not a number") from None
    if limit is not None and count > limit:
        raise Rejection(400, f"Invalid request: {name} parameter must be <= {limit}")
    return count


def _parse_flag(name: str, value: object, default: bool) -> bool:
    if value is None or value == "":
        return default
    found = FLAGS.get(str(value).lower())
    if found is None:
        raise Rejection(400, f"Invalid request: {name} parameter is not true or false")
    return found


def _parse_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    if not value:
        return choices[0]
    if value not in choices:
        shown = value[:20] if isinstance(value, str) else "this"
        raise Rejection(400, f"{shown} {name} is not supported")
    return str(value)
