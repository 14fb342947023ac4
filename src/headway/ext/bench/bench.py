"""The benchmark of this machine: one model, or all that tells how fast the machine is, in ten minutes at most."""

import gc
import platform
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal

import torch

from headway import __version__
from headway.config import Config
from headway.errors import HeadwayError, is_out_of_memory
from headway.ext.bench.bench_ctranslate2 import compare_with_ctranslate2
from headway.ext.bench.bench_results import Cells
from headway.ext.bench.bench_training import measure_training
from headway.ext.bench.bench_translation import measure_translation
from headway.ext.bench.matrix_rate import measure_matrix_rate, published_rate
from headway.ext.native import read_processor
from headway.training import Machine, parallel

MAX_SECONDS = (
    500.0  # no part of a whole machine begins later; the longest takes under a minute on a GPU
)


def bench(
    work: Literal["train", "translate"],
    config: Config,
    machine: Machine,
    text: str,
    cells: Cells,
    *,
    repeats: int,
) -> dict[str, Any]:
    """Measure the training or the translation of a model, and return values for JSON.

    Args:
        work: What to measure.
        config: Settings of the model, the training, the vocabulary size and the search.
        machine: Device, precision and threads; the caller has configured the process for them.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        cells: What is translated.
        repeats: How often the same steps or translations are repeated.
    """
    device = machine.torch_device
    if work == "train":
        found = measure_training(config, machine, text, repeats)
    else:
        found = measure_translation(config, device, text, cells, repeats)
    # After the peak memory of the work, because it also needs memory.
    rate = measure_matrix_rate(device, found.precision)
    rate = float(parallel.sum_disjoint(torch.tensor(rate)))
    return {
        "work": work, "settings": asdict(config), "processor": processor_name(device),
        "device": str(device), "precision": found.precision,
        "threads": parallel.world_size() * torch.get_num_threads(), "text": text,
        "repeats": repeats, "parameters": found.parameters, "matrix_rate": rate,
        "peak_memory": found.peak_memory, "rows": [speed.to_dict(rate) for speed in found.speeds],
        "versions": _versions(),
    }  # fmt: skip


def bench_machine(
    configs: Mapping[str, Config], machine: Machine, text: str, cells: Cells, *, repeats: int
) -> dict[str, Any]:
    """Measure the matrix rate, training and decoding of each preset, and CTranslate2 beside it; return values for JSON.

    A part that fails, or would begin too late, is listed as a problem. An error that is not the user's
    mistake is also printed with its traceback, and the other parts go on: a GPU may be there only once.

    Args:
        configs: Settings by name of a preset.
        machine: Device and precision; the caller has configured the process for them.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        cells: What is translated.
        repeats: How often the same steps or translations are repeated.
    """
    start, device = time.perf_counter(), machine.torch_device
    matrix_rate = measure_matrix_rate(device, machine.precision)
    parts: list[tuple[str, str, str, Callable[[], Any]]] = []
    for name, config in configs.items():
        for variant, settings in list_variants(name, config, device).items():
            measure = partial(bench, "train", settings, machine, text, cells, repeats=repeats)
            parts.append(("training", variant, f"training {variant}", measure))
    for name, config in configs.items():
        decode = partial(bench, "translate", config, machine, text, cells, repeats=repeats)
        parts.append(("decoding", name, f"decoding {name}", decode))
        compare = partial(compare_with_ctranslate2, config, machine, text, cells, repeats)
        parts.append(("ctranslate2", name, f"decoding {name} beside CTranslate2", compare))
    found: dict[str, dict[str, Any]] = {kind: {} for kind, *_ in parts}
    problems: list[str] = []
    for kind, name, words, call in parts:
        if time.perf_counter() - start > MAX_SECONDS:
            problems.append(f"{words}: not measured, the time is over")
            continue
        try:
            _free_memory(device)
            found[kind][name] = call()
        except (HeadwayError, RuntimeError) as error:
            reason = "out of memory"
            if not is_out_of_memory(error):
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                if isinstance(error, RuntimeError):
                    traceback.print_exc()
            problems.append(f"{words}: not measured, {reason}")
    name = processor_name(device)
    published = published_rate(name, machine.precision)
    for each in (*found["training"].values(), *found["decoding"].values()):
        for row in each["rows"]:
            share = row["flop_per_second"] / published if published else None
            row["share_of_published_rate"] = share
    rows = [{"preset": n, **row} for n, each in found.pop("ctranslate2").items() for row in each]
    return {
        "work": "all", "processor": name, "device": str(device), "precision": machine.precision,
        "matrix_rate": matrix_rate, "published_rate": published,
        "seconds": time.perf_counter() - start, "versions": _versions(), "problems": problems,
        **found, "ctranslate2": rows,
    }  # fmt: skip


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


def processor_name(device: torch.device) -> str:
    """Return the product name of the processor or GPU."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    names = [line for line in read_processor().splitlines() if line.startswith("model name")]
    return names[0].partition(": ")[2] if names else platform.machine()


def _versions() -> dict[str, str]:
    return {"headway": __version__, "torch": torch.__version__}


def _free_memory(device: torch.device) -> None:
    """Free what an earlier part has left, so that each part has its own peak."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
