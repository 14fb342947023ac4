"""Results of a benchmark of this machine; each figure is the median of several repeats."""

import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from headway import __version__
from headway.config import Config
from headway.ext.native import read_processor


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
class TrainingRow:
    """Training speed.

    Attributes:
        steps: Optimizer steps of a repeat.
        tokens: Target tokens of a repeat, without padding.
        seconds: Duration of a repeat.
        tokens_per_second: Target tokens per second.
        source_padding: Share of the source positions that is padding, 0 to 1.
        target_padding: Share of the target positions that is padding, 0 to 1.
        flop: FLOP of a repeat; see `headway.ext.bench.flop.training_flop`.
    """

    steps: int
    tokens: int
    seconds: RepeatSummary
    tokens_per_second: RepeatSummary
    source_padding: float
    target_padding: float
    flop: int


@dataclass(frozen=True, kw_only=True)
class TranslationRow:
    """Translation speed of one cell, from source ids to target ids.

    Attributes:
        batch: Sentences in a batch.
        beam: Hypotheses of each sentence; 1 is greedy search.
        sentences: Sentences of a repeat.
        tokens: Target tokens of a repeat, ``</s>`` included.
        seconds: Duration of a repeat.
        sentences_per_second: Sentences per second.
        tokens_per_second: Target tokens per second.
        flop: FLOP of a repeat; see `headway.ext.bench.flop.search_flop`.
    """

    batch: int
    beam: int
    sentences: int
    tokens: int
    seconds: RepeatSummary
    sentences_per_second: RepeatSummary
    tokens_per_second: RepeatSummary
    flop: int


@dataclass(frozen=True, kw_only=True)
class BenchResult:
    """What was measured, and on which machine.

    Attributes:
        work: "train" or "translate".
        settings: All settings, resolved.
        processor: Name of the processor or GPU.
        device: Name of the device in torch.
        precision: Precision of matrix products.
        threads: Processor threads.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        repeats: Number of repeats behind each summary.
        parameters: Parameters of the model.
        matrix_rate: FLOP per second of a large matrix product in this precision.
        peak_memory: Largest number of bytes held on the device.
        rows: One row for training; a row for each batch size and beam for translation.
    """

    work: str
    settings: Config
    processor: str
    device: str
    precision: str
    threads: int
    text: str
    repeats: int
    parameters: int
    matrix_rate: float
    peak_memory: int
    rows: Sequence[TrainingRow | TranslationRow]

    def to_dict(self) -> dict[str, Any]:
        """Return values for JSON; each row also gets its FLOP per second and the share of the matrix rate."""
        values = asdict(self)
        values["versions"] = {"headway": __version__, "torch": torch.__version__}
        for row in values["rows"]:
            rate = row["flop"] / row["seconds"]["median"]
            row |= {"flop_per_second": rate, "share_of_matrix_rate": rate / self.matrix_rate}
        return values


def processor_name(device: torch.device) -> str:
    """Return the product name of the processor or GPU."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    names = [line for line in read_processor().splitlines() if line.startswith("model name")]
    return names[0].partition(": ")[2] if names else platform.machine()
