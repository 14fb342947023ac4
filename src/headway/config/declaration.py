"""A single setting: its type, its bounds, its roles, its value as text, and its value from a file.

A setting is declared as ``steps: int = setting(100, POSITIVE, Role.SCHEDULE)``, or as ``steps: int = 100`` if there is no
more to say. Its meaning, which ``headway config`` prints, stands in the docstring of its class.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field, fields
from enum import Enum
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

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


class Role(Enum):
    """What a setting is, beside a part of the result that no resume changes and for which the paper has a value."""

    SCHEDULE = "how long a run trains, and when it validates and saves; a resume may change it"
    MACHINE = "where a run computes, and what it writes beside; a resume may change it"
    ANEW = "each run chooses it anew; fine-tuning does not inherit it"
    VOCABULARY = "how a vocabulary is learned; nobody chooses it for a vocabulary that is given"
    DROPOUT = "what training drops; weights mean the same with another"
    ANY_TEXT = "has an effect on text that is not parallel, too"
    UNCOMPARED = "follows from the data, or changes what is measured alone"
    UNSAID = "the paper does not say it"


class Paper(NamedTuple):
    """What the paper has for a setting, where Headway's default is different."""

    value: bool | float | str


NO_LIMIT = 1_000_000_000


Value = TypeVar("Value")


def setting(default: Value, *notes: Bound | Role | Paper | str) -> Value:
    """Declare a setting: a field of a frozen dataclass, which is a section.

    Args:
        default: Its value if nobody chooses one.
        notes: Bounds and roles, the paper's value where the default is another, and the meaning, if it does not stand in
            the docstring of the class.
    """
    found: Value = field(default=default, metadata={"notes": notes})
    return found


def notes_of(section: Any) -> dict[str, tuple[Bound | Role | Paper | str, ...]]:
    """Return the notes of each setting of a section, or of its class."""
    return {own.name: own.metadata.get("notes", ()) for own in fields(section)}


def meanings_of(section: Any) -> dict[str, str]:
    """Return the meaning of each setting of a section, or of its class."""
    notes = notes_of(section)
    found = {name: "".join(n for n in notes[name] if isinstance(n, str)) for name in notes}
    for line in (section.__doc__ or "").splitlines():
        name, _, meaning = line.strip().partition(": ")
        if found.get(name) == "":
            found[name] = meaning
    return found


def with_role(section: Any, *roles: Role) -> set[str]:
    """Return the names of the settings of a section, or of its class, that have one of these roles."""
    return {name for name, notes in notes_of(section).items() if {*roles} & {*notes}}


def list_wrong_values(section: Any, is_for_files: bool = False) -> list[str]:
    """Return a line for each value of a section that its setting cannot have, or that is out of its bounds.

    Args:
        section: A section of the configuration.
        is_for_files: Check the bounds for a model's file instead of those for every value.
    """
    found = []
    for own in fields(section):
        value = getattr(section, own.name)
        try:
            check_setting(value, own.type)
        except ValueError as error:
            found.append(f"{own.name} {error}")
            continue
        found += [
            f"{own.name} = {value} must be {note.words}"
            for note in own.metadata.get("notes", ())
            if isinstance(note, Bound)
            and note.is_for_files == is_for_files
            and not note.holds(value)
        ]
    return found


def raise_all(problems: Sequence[str], kind: type[HeadwayError] = HeadwayError) -> None:
    """Raise one error with a line for each problem, if there are any."""
    if problems:
        raise kind("\n".join(problems))


Setting = bool | int | float | str  # a value

_EXPECTED = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_setting(text: str, hint: object) -> Setting:
    """Turn an option's text into the type of its setting.

    Raises:
        ValueError: Saying what was expected.
    """
    value: Setting = text
    if hint is bool or True in get_args(hint):
        value = _TRUTH.get(text.lower(), text)
    elif hint is int or hint is float:
        with suppress(ValueError):
            value = int(text) if hint is int else float(text)
    return check_setting(value, hint)


def check_setting(value: object, hint: object) -> Setting:
    """Return a value from a file in the type of its setting.

    Raises:
        ValueError: Saying what was expected.
    """
    if choices := list_choices(hint):
        for choice in get_args(hint):
            if value == choice and isinstance(value, type(choice)):
                return cast("Setting", choice)
        near = suggest(str(value)[:60], choices)
        raise ValueError(f"must be one of {', '.join(choices)}, not {value!r:.60}{near}")
    assert isinstance(hint, type)
    if hint is float and type(value) is int:
        with suppress(OverflowError):
            value = float(value)
    if type(value) is not hint or (hint is float and not math.isfinite(cast("float", value))):
        raise ValueError(f"must be {_EXPECTED[hint]}, not {value!r:.60}")
    return cast("Setting", value)


def list_choices(hint: object) -> list[str]:
    """Return the values of a setting with few values, as an option of the command takes them; none: it has any."""
    return [spell(choice) for choice in get_args(hint)] if get_origin(hint) is Literal else []


def spell(value: object) -> str:
    """Return the value of a setting as an option of the command takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
