"""The events of a run, and the part of its state that is no tensor."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from headway.training.steps.trainer import StepReport
from headway.training.storage.stored_values import build
from headway.training.validation import ProgressReport, ValidationReport


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A message to the user, of one line."""

    text: str


Event = StepReport | ValidationReport | ProgressReport | Notice


@dataclass(kw_only=True)
class RunState:
    """The numbers that a checkpoint holds beside tensors.

    Attributes:
        epoch: Completed passes over the data.
        block: Blocks of this epoch taken so far; see `headway.training.steps.feed.Position`.
        index: Micro-batches of the next block taken so far.
        failures: Skipped steps in a row.
        skipped: Skipped steps in all.
        roll_backs: Returns to a checkpoint in a row, with few good steps in between.
        rolled_back: The step of the last return.
        validated: The last step that was validated.
        since_best: Validations since the best one.
        best: The best validation.
        series: The steps of the checkpoints that are kept to be averaged at the end.
    """

    epoch: int = 0
    block: int = 0
    index: int = 0
    failures: int = 0
    skipped: int = 0
    roll_backs: int = 0
    rolled_back: int = 0
    validated: int = 0
    since_best: int = 0
    best: ValidationReport | None = None
    series: list[int] = field(default_factory=list)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> "RunState":
        """Take the state out of what ``state.json`` holds.

        Raises:
            ValueError: If a field has a value of another type, or a number is negative.
        """
        names = {known.name for known in fields(cls)}
        return build(cls, {name: value for name, value in values.items() if name in names})
