"""What happens in a run, and what it remembers of it beside tensors."""

from dataclasses import dataclass, fields
from typing import Any

from headway.training.trainer import StepReport
from headway.training.validation import Progress, ValidationReport


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Something the user should be told, in one line."""

    text: str


Event = StepReport | ValidationReport | Progress | Notice


@dataclass(kw_only=True)
class State:
    """What a checkpoint remembers beside tensors.

    Attributes:
        epoch: Passes over the data so far.
        index: Micro-batches of this epoch so far.
        failures: Skipped steps in a row.
        skipped: Skipped steps in all.
        roll_backs: Times the run went back to a checkpoint, since it last did well for a while.
        rolled_back: The step at which it last did.
        validated: The last step that was validated.
        since_best: Validations since the best.
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
        """Read what ``state.json`` holds, among other things."""
        known = {name: values[name] for name in (field.name for field in fields(cls))}
        best = known.pop("best")
        return cls(best=None if best is None else ValidationReport(**best), **known)
