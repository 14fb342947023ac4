"""Dataclasses from JSON that may be damaged: each value has the type that its field declares."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints, is_typeddict

Built = TypeVar("Built")


OMITTED = {"bleu_of_pairs"}  # if they are empty, as they are for a model of one pair of languages


def to_values(stored: object) -> dict[str, Any]:
    """Return the fields of a dataclass as plain values, which `build` reads."""

    def keep(fields_: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in fields_ if value or name not in OMITTED}

    return asdict(cast("Any", stored), dict_factory=keep)


def build(kind: type[Built], values: object) -> Built:
    """Build a dataclass from the values that ``dataclasses.asdict`` returned, read from JSON.

    No whole number that Headway stores is negative.

    Raises:
        ValueError: If a field is missing, unknown, negative or of another type; it names the field.
    """
    if not isinstance(values, Mapping):
        raise ValueError("not an object with names and values")
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(cast("Any", kind))}
    if unknown := sorted(values.keys() - known.keys()):
        raise ValueError(f"{unknown[0]} is unknown")
    for name, field in known.items():
        is_optional = field.default is not MISSING or field.default_factory is not MISSING
        if name not in values and not is_optional:
            raise ValueError(f"{name} is missing")
    return kind(**{name: _convert(name, value, hints[name]) for name, value in values.items()})


def _convert(name: str, value: object, hint: Any) -> object:
    if isinstance(hint, UnionType):
        if value is None:
            hint = NoneType
        else:
            hint = next(option for option in get_args(hint) if option is not NoneType)
    if is_dataclass(hint):
        try:
            return build(cast("type[object]", hint), value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    is_negative = type(value) is int and value < 0
    if is_negative or not _has_type(value, hint):
        raise ValueError(f"{name} has a wrong value")
    return value


def _has_type(value: object, hint: Any) -> bool:
    origin, options = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in options
    if isinstance(hint, UnionType):
        return any(_has_type(value, option) for option in options)
    if origin is list:
        return isinstance(value, list) and all(_has_type(item, options[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_has_type(v, options[1]) for v in value.values())
    if hint is float:
        return type(value) in (int, float)
    if is_typeddict(hint):
        return isinstance(value, dict)
    return type(value) is hint
