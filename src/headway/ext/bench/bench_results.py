"""What a benchmark of this machine found; each figure is the median of several repeats."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Cells = Sequence[tuple[int, int]]  # pairs of batch size and beam


@dataclass(frozen=True)
class RepeatSummary:
    """Median, minimum and maximum of the repeats."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "RepeatSummary":
        """Summarize the values of the repeats."""
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True, kw_only=True)
class Speed:
    """The speed of a training, or of a translation from source ids to target ids.

    Attributes:
        tokens: Target tokens of a repeat, without padding and with ``</s>``.
        seconds: Duration of each repeat.
        flop: FLOP of a repeat; see `headway.ext.bench.flop`.
        facts: Of a training: the "steps" of a repeat, and "source_padding" and "target_padding", the shares of the
            positions that are padding. Of a translation: "batch", "beam", and the "sentences" of a repeat.
    """

    tokens: int
    seconds: Sequence[float]
    flop: int
    facts: Mapping[str, float]

    def to_dict(self, matrix_rate: float) -> dict[str, Any]:
        """Return values for JSON, with rates and the share of the FLOP per second of a large matrix product."""
        rates = {
            f"{name}_per_second": asdict(RepeatSummary.of([count / s for s in self.seconds]))
            for name, count in (("tokens", self.tokens), ("sentences", self.facts.get("sentences")))
            if count
        }
        seconds = RepeatSummary.of(self.seconds)
        rate = self.flop / seconds.median
        return {
            **self.facts, "tokens": self.tokens, "seconds": asdict(seconds), **rates, "flop": self.flop,
            "flop_per_second": rate, "share_of_matrix_rate": rate / matrix_rate,
        }  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What was measured of one model.

    Attributes:
        speeds: One for a training, one for each pair of batch size and beam for a translation.
        precision: Of matrix products.
        parameters: Of the model.
        peak_memory: Largest number of bytes held on the device.
    """

    speeds: Sequence[Speed]
    precision: str
    parameters: int
    peak_memory: int
