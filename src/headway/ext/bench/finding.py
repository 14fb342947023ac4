"""The result of a check of a model."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Result of one check.

    Attributes:
        name: The relation that was checked.
        passed: Whether it holds.
        detail: The largest deviation, as text.
    """

    name: str
    passed: bool
    detail: str
