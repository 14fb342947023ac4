"""The events of a run, and the part of its state that is no tensor."""

from dataclasses import dataclass, fields
from typing import Any

from headway.training.trainer import StepReport
from headway.training.validation import Progress, ValidationReport


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A message to the user, of one line."""

    text: str


Event = StepReport | ValidationReport | Progress | Notice


@dataclass(kw_only=True)
class State:
    """The numbers that a checkpoint holds beside tensors.

    Attributes:
        epoch: Completed passes over the data.
        index: Micro-batches of this epoch taken so far.
        failures: Skipped steps in a row.
        skipped: Skipped steps in all.
        roll_backs: Returns to a checkpoint in a row, with few good steps in between.
        rolled_back: The step of the last return.
        validated: The last step that was validated.
        since_best: Validations since the best one.
        best: The best validation.
    """

    epoch: int = 0
    index: int = 0
    failures: int = 0
    skipped: int = 0
    roll_backs: int = 0
    rolled_back: int = 0
    validated: int = 0
    since_best: int = 0
    best: ValidationReport | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "State":
        """Take the state out of what ``state.json`` holds."""
        own = {field.name: values[field.name] for field in fields(cls)}
        best = own.pop("best")
        return cls(best=None if best is None else ValidationReport(**best), **own)
