"""The events of a run, and the part of its state that is no tensor."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from headway.training.steps.trainer import StepReport
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
        metrics_bytes: Length of ``metrics.jsonl`` when the checkpoint was written.
        timings_bytes: Length of ``timings.jsonl``.
        metrics_sha256: Of ``metrics.jsonl``; empty if there is no checkpoint.
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
    metrics_bytes: int = 0
    timings_bytes: int = 0
    metrics_sha256: str = ""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunState":
        """Take the state out of what ``state.json`` holds, whose digest has been checked.

        Raises:
            TypeError: If a field of the best validation is missing or unknown.
        """
        names = {known.name for known in fields(cls)} & values.keys()
        best = values.get("best") and ValidationReport(**values["best"])
        return cls(**{name: values[name] for name in names} | {"best": best})
