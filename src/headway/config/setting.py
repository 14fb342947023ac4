"""A single setting: its type, its bounds, its value as text, and its value from a file.

Bounds stand beside the meaning of a setting: ``Annotated[int, "meaning", POSITIVE]``.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Literal, NamedTuple, cast, get_args, get_origin, get_type_hints

from headway.errors import HeadwayError, suggest


class Bound(NamedTuple):
    """A condition on the value of a setting, and its words in a message.

    Attributes:
        holds: The condition.
        words: Its words.
        is_for_files: The condition holds for a model's file, and not for a person's option.
    """

    holds: Callable[[float], bool]
    words: str
    is_for_files: bool = False


def at_least(limit: float) -> Bound:
    """Return the bound "at least ``limit``"."""
    return Bound(lambda value: value >= limit, f"at least {limit}")


def at_most(limit: int) -> Bound:
    """Return the bound "at most ``limit``"."""
    return Bound(lambda value: value <= limit, f"at most {limit:,}")


def in_file_at_most(limit: int) -> Bound:
    """Return the bound "at most ``limit``" for a model's file; a person may set more by an option."""
    return Bound(lambda value: value <= limit, f"at most {limit:,} in a model's file", True)


POSITIVE = Bound(lambda value: value > 0, "more than 0")
NOT_NEGATIVE = Bound(lambda value: value >= 0, "0 or more")
AT_LEAST_ONE = at_least(1)
PROBABILITY = Bound(lambda value: 0 <= value < 1, "at least 0 and below 1")
SHARE = Bound(lambda value: 0 < value <= 1, "more than 0 and at most 1")


def list_broken_bounds(section: object, is_for_files: bool = False) -> list[str]:
    """Return a line for each value of a section that is out of its bounds.

    Args:
        section: A section of the configuration.
        is_for_files: Check the bounds for a model's file instead of those for every value.
    """
    return [
        f"{name} = {getattr(section, name)} must be {bound.words}"
        for name, bound in _list_bounds(type(section))  # type: ignore[arg-type]
        if bound.is_for_files == is_for_files and not bound.holds(getattr(section, name))
    ]


@cache
def _list_bounds(section: type) -> list[tuple[str, Bound]]:
    return [
        (name, bound)
        for name, hint in get_type_hints(section, include_extras=True).items()
        if get_origin(hint) is Annotated
        for bound in get_args(hint)[2:]
    ]


def raise_all(problems: Sequence[str]) -> None:
    """Raise one `HeadwayError` with a line for each problem, if there are any."""
    if problems:
        raise HeadwayError("\n".join(problems))


Setting = bool | int | float | str  # a value

_EXPECTED = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


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
