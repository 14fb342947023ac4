"""Compare ways to sum the gradients of a step over the ranks of one machine.

    python benchmarks/gradient_sums.py --preset base --ranks 2

Two ways add along the fixed tree of `headway.training.steps.gradient_sum`: one through memory that the ranks
share, and one through messages, as ranks of several machines do. The third is torch's ``all_reduce``, which
adds in an order that depends on the number of ranks. The ways take turns. The table has the median, the
smallest and the largest seconds of a sum.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, distributed

from headway.cli.launch import launch
from headway.config import PRESETS
from headway.model import make_model
from headway.training import parallel
from headway.training.steps.gradient_sum import Gradient, Parts, connect, divide_share, share_of

CPU = torch.device("cpu")


def all_reduce(parts: Parts, count: int) -> Tensor:
    """Sum the gradients of all ranks in torch's order."""
    _, gradient = parts[0]
    flat = torch.cat([tensor.flatten() for tensor in gradient])
    distributed.all_reduce(flat)
    return flat


def measure(preset: str, repeats: int) -> int:
    """In a rank: time the sums, and print a table in the first one."""
    parallel.join()
    torch.set_num_threads(1)
    config = PRESETS[preset]
    size = config.text.vocab_size
    model = make_model(replace(config.model, source_vocab_size=size, target_vocab_size=size))
    shapes = [parameter.shape for parameter in model.parameters()]
    count = config.training.micro_batches_per_step
    share = share_of(parallel.rank(), parallel.world_size(), count)
    gradient: Gradient = [torch.randn(shape) for shape in shapes]
    parts = [(block, gradient) for block in divide_share(share)]
    ways: dict[str, Callable[[Parts, int], object]] = {
        "shared memory": connect(shapes, count, CPU),
        "messages": connect(shapes, count, CPU, may_share=False),
        "all_reduce": all_reduce,
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, sum_gradients in ways.items():
            parallel.wait()
            started = time.perf_counter()
            sum_gradients(parts, count)
            parallel.wait()
            seconds[name].append(time.perf_counter() - started)
    if parallel.rank() == 0:
        numbers = sum(shape.numel() for shape in shapes)
        print(f"{numbers:,} numbers, {parallel.world_size()} ranks, {count} micro-batches")
        for name, times in seconds.items():
            times = times[1:]  # the first one maps the memory
            median = statistics.median(times)
            print(f"{name:14} {median:.4f} s ({min(times):.4f} to {max(times):.4f})")
    parallel.leave()
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--preset", choices=PRESETS, default="base")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    launch(measure, (options.preset, options.repeats), options.ranks)
