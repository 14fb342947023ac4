"""What a benchmark of this machine says; every figure is the median of repeats of the same work."""

import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import torch

from headway import __version__
from headway.config import Config, ModelConfig
from headway.kernels.build import processor


class Spread(NamedTuple):
    """Median, least and most of the repeats."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarise the repeats' values."""
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What was measured, and on what.

    Attributes:
        work: "train" or "translate".
        settings: All of them, resolved.
        processor: The processor's or graphics card's name.
        device: As torch calls it.
        precision: Of matrix products.
        threads: Processor threads.
        text: What the sentences' lengths are like.
        repeats: Behind each spread.
        parameters: Of the model.
        matrix_rate: FLOP a second of a large product in that precision.
        peak_memory: Most bytes held, on the device.
        rows: One for training; one for each batch size and beam of translation.
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
    rows: list[Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; each row also has its rate of products, and its share."""
        values = asdict(self)
        values["versions"] = {"headway": __version__, "torch": torch.__version__}
        for row in values["rows"]:
            for name, value in row.items():
                if isinstance(value, Spread):
                    row[name] = value._asdict()
            rate = row["flop"] / row["seconds"]["median"]
            row |= {"flop_per_second": rate, "share_of_matrix_rate": rate / self.matrix_rate}
        return values


def shape_of(config: Config) -> ModelConfig:
    """Return the model's shape with the vocabulary that the text's settings ask for."""
    size = config.text.vocab_size
    return replace(config.model, source_vocab_size=size, target_vocab_size=size)


def processor_name(device: torch.device) -> str:
    """Return what the device's maker calls it."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    names = [line for line in processor().splitlines() if line.startswith("model name")]
    return names[0].partition(": ")[2] if names else platform.machine()
