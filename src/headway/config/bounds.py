"""The bounds of a setting, which stand beside its meaning: ``Annotated[int, "meaning", POSITIVE]``."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, NamedTuple, get_args, get_origin, get_type_hints

from headway.errors import HeadwayError


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
