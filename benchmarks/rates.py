"""Measure GFLOP/s on one core: ``x W^T`` with each implementation in torch, and attention with its gradient.

OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/rates.py
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from headway.model.ops import operations_of
from headway.model.visibility import Visibility
from headway.torch_private import multiply_int8, onednn_linear

SHAPES = (
    (2509, 128, 128),
    (2509, 128, 512),
    (2509, 512, 512),
    (2509, 512, 2048),
    (2509, 128, 8000),
    (512, 128, 8000),
)
# Sentences, queries, keys, and whether keys behind the query are hidden; 4 heads of width 32.
ATTENTIONS = ((64, 16, 16, False), (16, 90, 40, False), (16, 120, 120, True))
REPEATS = 7


def time_fastest(run: Callable[[], object]) -> float:
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


def make_attentions(
    sentences: int, queries: int, keys: int, is_causal: bool
) -> dict[str, Callable[[], object]]:
    """Return Headway's and torch's attention, forward and backward."""
    q, k, v = (torch.randn(sentences, 4, n, 32, requires_grad=True) for n in (queries, keys, keys))
    seen, weights = Visibility(is_causal=is_causal), torch.randn(sentences, 4, queries, 32)

    def differentiate(out: Tensor) -> object:
        return torch.autograd.grad(out, (q, k, v), weights)

    return {
        "Headway": lambda: differentiate(operations_of(q).attention(q, k, v, seen, 32**-0.5)),
        "torch": lambda: differentiate(
            F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        ),
    }


def main() -> None:
    """Print the tables."""
    torch.set_num_threads(1)
    names = list(make_implementations(32, 32, 32))
    print(f"| rows x in x out | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for shape in SHAPES:
        work = 2 * shape[0] * shape[1] * shape[2] / 1e9
        rates = [f"{work / time_fastest(run):.0f}" for run in make_implementations(*shape).values()]
        print(f"| {' x '.join(map(str, shape))} | {' | '.join(rates)} |")
    print("\n| sentences, queries x keys | Headway | torch |\n|---|---|---|")
    for sentences, queries, keys, is_causal in ATTENTIONS:
        # Two products forward and five backward; what causality hides counts, too.
        work = 7 * 2 * sentences * 4 * queries * keys * 32 / 1e9
        runs = make_attentions(sentences, queries, keys, is_causal)
        rates = [f"{work / time_fastest(run):.0f}" for run in runs.values()]
        note = ", causal" if is_causal else ""
        print(f"| {sentences}, {queries} x {keys}{note} | {' | '.join(rates)} |")


if __name__ == "__main__":
    main()
