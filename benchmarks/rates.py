"""Measure GFLOP/s of ``x W^T`` on one core, with each implementation in torch and the shapes of a model.

OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/rates.py
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from headway.kernels.torch_private import multiply_int8, onednn_linear

SHAPES = (
    (2509, 128, 128),
    (2509, 128, 512),
    (2509, 512, 512),
    (2509, 512, 2048),
    (2509, 128, 8000),
    (512, 128, 8000),
)
REPEATS = 7


def time_fastest(run: Callable[[], Tensor]) -> float:
    """Return the minimum seconds of several runs, after two warm-up runs."""
    run(), run()
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def make_implementations(rows: int, inputs: int, outputs: int) -> dict[str, Callable[[], Tensor]]:
    """Return each implementation of [rows, inputs] times the transpose of [outputs, inputs]."""
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
    low_x, low_weight = x.bfloat16(), weight.bfloat16()
    bytes_x, bytes_weight = (t.mul(40).clamp(-127, 127).char() for t in (x, weight))
    return {
        "fp32 MKL": lambda: F.linear(x, weight),
        "fp32 oneDNN": lambda: onednn_linear(x, weight, None),
        "bf16": lambda: F.linear(low_x, low_weight),
        "int8": lambda: multiply_int8(bytes_x, bytes_weight.t()),
    }


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    names = list(make_implementations(32, 32, 32))
    print(f"| rows x in x out | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for shape in SHAPES:
        work = 2 * shape[0] * shape[1] * shape[2] / 1e9
        rates = [f"{work / time_fastest(run):.0f}" for run in make_implementations(*shape).values()]
        print(f"| {' x '.join(map(str, shape))} | {' | '.join(rates)} |")


if __name__ == "__main__":
    main()
