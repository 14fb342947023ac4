"""Measure everything on one device: matrix rate, training and decoding, in ten minutes at most."""

import gc
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch

from headway import __version__
from headway.config import Config
from headway.errors import HeadwayError, is_out_of_memory
from headway.ext.bench.bench import BenchResult, processor_name
from headway.ext.bench.bench_ctranslate2 import SpeedComparison, compare_with_ctranslate2
from headway.ext.bench.bench_training import bench_training
from headway.ext.bench.bench_translation import bench_translation
from headway.ext.bench.matrix_rate import measure_matrix_rate, published_rate
from headway.training import Machine

MAX_SECONDS = 500.0  # no part begins later; the longest takes under a minute on a GPU
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class MachineResult:
    """What was measured on a device.

    Attributes:
        processor: Name of the processor or GPU.
        device: Name of the device in torch.
        precision: Precision of the training.
        matrix_rate: FLOP per second of a large matrix product in this precision.
        published_rate: FLOP per second that the maker of the GPU names; None: not known.
        seconds: Duration of all measurements.
        training: By name of a preset, and "NAME packed"; see `list_variants`.
        decoding: By name of a preset.
        comparisons: Headway beside CTranslate2; empty if it is not installed.
        problems: Parts that were not measured, and why.
    """

    processor: str
    device: str
    precision: str
    matrix_rate: float
    published_rate: float | None
    seconds: float
    training: Mapping[str, BenchResult]
    decoding: Mapping[str, BenchResult]
    comparisons: Sequence[SpeedComparison]
    problems: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return values for JSON; each row of training and decoding also gets its rates and shares."""
        values: dict[str, Any] = {
            "work": "all", "processor": self.processor, "device": self.device,
            "precision": self.precision, "matrix_rate": self.matrix_rate,
            "published_rate": self.published_rate, "seconds": self.seconds,
            "versions": {"headway": __version__, "torch": torch.__version__},
            "problems": list(self.problems),
        }  # fmt: skip
        for part in ("training", "decoding"):
            values[part] = {name: each.to_dict() for name, each in getattr(self, part).items()}
            for each in values[part].values():
                for row in each["rows"]:
                    rate = self.published_rate
                    row["share_of_published_rate"] = row["flop_per_second"] / rate if rate else None
        values["ctranslate2"] = [asdict(each) | {"ratio": each.ratio} for each in self.comparisons]
        return values


def bench_machine(
    configs: Mapping[str, Config],
    machine: Machine,
    text: str,
    cells: Sequence[tuple[int, int]],
    *,
    repeats: int,
) -> MachineResult:
    """Measure the matrix rate, then training and decoding of each preset.

    A part that fails, or would begin too late, is listed as a problem. An error that is not the user's
    mistake is also printed with its traceback, and the other parts go on: a GPU may be there only once.

    Args:
        configs: Settings by name of a preset.
        machine: Device and precision; the caller has configured the process for them.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        cells: Pairs of batch size and beam.
        repeats: How often the same steps or translations are repeated.
    """
    start, device = time.perf_counter(), machine.torch_device
    matrix_rate = measure_matrix_rate(device, machine.precision)
    problems: list[str] = []

    def attempt(name: str, measure: Callable[[], Result]) -> Result | None:
        if time.perf_counter() - start > MAX_SECONDS:
            problems.append(f"{name}: not measured, the time is over")
            return None
        try:
            _free_memory(device)
            return measure()
        except (HeadwayError, RuntimeError) as error:
            reason = "out of memory"
            if not is_out_of_memory(error):
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                if isinstance(error, RuntimeError):
                    traceback.print_exc()
            problems.append(f"{name}: not measured, {reason}")
            return None

    training: dict[str, BenchResult] = {}
    decoding: dict[str, BenchResult] = {}
    comparisons: list[SpeedComparison] = []
    for name, config in configs.items():
        for variant, settings in list_variants(name, config, device).items():
            measure = partial(bench_training, settings, machine, text, repeats=repeats)
            trained = attempt(f"training {variant}", measure)
            if trained is not None:
                training[variant] = trained
    for name, config in configs.items():
        decode = partial(bench_translation, config, machine, text, cells, repeats=repeats)
        decoded = attempt(f"decoding {name}", decode)
        if decoded is not None:
            decoding[name] = decoded
        compare = partial(
            compare_with_ctranslate2, name, config, machine, text, cells, repeats=repeats
        )
        comparisons += attempt(f"decoding {name} beside CTranslate2", compare) or []
    name = processor_name(device)
    return MachineResult(
        processor=name,
        device=str(device),
        precision=machine.precision,
        matrix_rate=matrix_rate,
        published_rate=published_rate(name, machine.precision),
        seconds=time.perf_counter() - start,
        training=training,
        decoding=decoding,
        comparisons=comparisons,
        problems=problems,
    )


def list_variants(name: str, config: Config, device: torch.device) -> dict[str, Config]:
    """Return the settings whose training is measured, by a name: on a GPU also what suits it best.

    A GPU is filled best by rows of one length, and by steps of one micro-batch.
    """
    if device.type != "cuda":
        return {name: config}
    training = replace(
        config.training, packed=True, micro_batch_tokens=config.training.batch_tokens
    )
    return {name: config, f"{name} packed": replace(config, training=training)}


def _free_memory(device: torch.device) -> None:
    """Free what an earlier part has left, so that each part has its own peak."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
