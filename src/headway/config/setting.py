"""A single setting: its type, its value as text, and its value from a file."""

import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Literal, cast, get_args, get_origin, get_type_hints

from headway.config.sections import SECTIONS, Setting
from headway.errors import suggest

_EXPECTED = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def setting_types(sections: Iterable[str]) -> dict[str, object]:
    """Return the type of each setting, by its name as ``section.name``."""
    return {
        f"{section}.{f.name}": hints[f.name]
        for section in sections
        if section in SECTIONS
        for hints in [get_type_hints(SECTIONS[section])]
        for f in fields(SECTIONS[section])
    }


def parse_setting(text: str, hint: object) -> Setting:
    """Turn an option's text into the type of its setting.

    Raises:
        ValueError: Saying what was expected.
    """
    if hint is bool or True in get_args(hint):
        truth = _TRUTH.get(text.lower())
        if truth is not None:
            return truth
        if hint is bool:
            raise ValueError(f"must be true or false, not '{text}'")
    if hint is int or hint is float:
        try:
            return int(text) if hint is int else _finite(float(text))
        except ValueError:
            raise ValueError(f"must be {_EXPECTED[hint]}, not '{text}'") from None
    return check_setting(text, hint)


def check_setting(value: object, hint: object) -> Setting:
    """Return a value from a file in the type of its setting.

    Raises:
        ValueError: Saying what was expected.
    """
    if get_origin(hint) is Literal:
        for choice in get_args(hint):
            if value == choice and isinstance(value, type(choice)):
                return cast("Setting", choice)
        choices = list_choices(hint)
        near = suggest(str(value)[:60], choices)
        raise ValueError(f"must be one of {', '.join(choices)}, not {value!r:.60}{near}")
    assert isinstance(hint, type)
    try:
        if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
            return _finite(value)
    except (ValueError, OverflowError):
        pass
    else:
        if isinstance(value, bool | int | float | str) and type(value) is hint:
            return value
    raise ValueError(f"must be {_EXPECTED[hint]}, not {value!r:.60}")


def list_choices(hint: object) -> list[str]:
    """Return the values of a setting with few values, as an option of the command takes them; none: it has any."""
    return [spell(choice) for choice in get_args(hint)] if get_origin(hint) is Literal else []


def spell(value: object) -> str:
    """Return the value of a setting as an option of the command takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _finite(value: float) -> float:
    """Return a number as a float.

    Raises:
        ValueError: If it is infinite or NaN.
        OverflowError: If it is too large.
    """
    if not math.isfinite(value):
        raise ValueError
    return float(value)
