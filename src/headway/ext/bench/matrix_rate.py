"""How fast this machine multiplies matrices: as measured, and as the makers of graphics cards say."""

import statistics
import time
from collections.abc import Callable

import torch
from torch.nn import functional as F

from headway.ext.bench.timing import synchronize
from headway.torch_private import has_onednn_linear, multiply_int8, onednn_linear

REPEATS = 5
MIN_SECONDS = 0.2  # duration of a repeat
# Dense matrix products of 16-bit numbers with 32-bit sums, in FLOP per second, from the data sheets of
# the makers. The first name that a card's name starts with counts.
PEAKS = {
    "NVIDIA H100 PCIe": 756e12,
    "NVIDIA H100 NVL": 835e12,
    "NVIDIA H100": 989e12,
    "NVIDIA H200": 989e12,
    "NVIDIA A100": 312e12,
    "NVIDIA L40S": 362e12,
    "NVIDIA L4": 121e12,
    "Tesla V100": 125e12,
}


def measure_matrix_rate(device: torch.device, precision: str) -> float:
    """Measure the FLOP per second of a large square matrix product.

    The rate describes the machine, so the faster of two implementations counts: on some processors
    oneDNN computes fp32 products twice as fast as the library behind ``F.linear``.

    Args:
        device: Device to measure.
        precision: "fp32", "bf16", "fp16" or "int8".

    Returns:
        FLOP per second, from the median time of five repeats.
    """
    size = 2048 if device.type == "cpu" else 8192
    x, w = (torch.randn(size, size, device=device) for _ in range(2))
    implementations: list[Callable[[], object]]
    if precision == "int8":
        x, w = ((100 * m.clamp(-1, 1)).to(torch.int8) for m in (x, w))
        implementations = [lambda: multiply_int8(x, w)]
    elif precision in ("bf16", "fp16"):
        dtype = torch.bfloat16 if precision == "bf16" else torch.float16
        x, w = x.to(dtype), w.to(dtype)
        implementations = [lambda: F.linear(x, w)]
    else:
        implementations = [lambda: F.linear(x, w)]
        if device.type == "cpu" and has_onednn_linear():
            implementations.append(lambda: onednn_linear(x, w, None))
    with torch.inference_mode():
        return max(2 * size**3 / _median_seconds(run, device) for run in implementations)


def published_rate(card: str, precision: str) -> float | None:
    """Return the FLOP per second that a card's maker names; None: it is not known here.

    Args:
        card: The product name, as torch reports it.
        precision: Of the products; only 16-bit precisions have a rate here.
    """
    if precision not in ("bf16", "fp16"):
        return None
    return next((rate for name, rate in PEAKS.items() if card.startswith(name)), None)


def _median_seconds(work: Callable[[], object], device: torch.device) -> float:
    """Return the median seconds of one call."""
    times: list[float] = []
    for _ in range(REPEATS + 1):  # the first warms up
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < MIN_SECONDS:
            for _ in range(1 if device.type == "cpu" else 20):
                work()
                calls += 1
            synchronize(device)
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times[1:])
