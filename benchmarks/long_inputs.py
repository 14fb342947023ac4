"""Measure time and peak memory as the number n of positions doubles.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/long_inputs.py

The cases are one self-attention layer (d_model 512, 8 heads, one row), with a window of 64 positions and
with full attention, and a whole Transformer of such layers in training and in translation. Time is the
median of interleaved repeats: each repeat runs every n once, so that slow periods of the machine affect
all of them. As in training, the process keeps freed memory. Otherwise each tensor of 32 MiB or more needs
new pages from the kernel, which makes n = 16,384 a quarter slower than linear. Memory is the increase of
the peak of a fresh process, after libraries and weights are loaded; there, freed memory is not kept
(Linux only).

The number in brackets is the growth from one n to the next; linear growth is 2.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.model import MultiHeadAttention, SelfAttention, Transformer
from headway.training.machine import keep_large_allocations

D_MODEL, HEADS, WINDOW = 512, 8, 64
LENGTHS = (1024, 2048, 4096, 8192, 16384)
VOCABULARY = 1000
STEPS = 20  # of a translation; few, so that the time depends on the input length

Run = Callable[[], object]


def make_layer(length: int, *, window: int, causal: bool, packed: bool, backward: bool) -> Run:
    """Return a forward of one layer, with or without its backward."""
    attention = MultiHeadAttention(D_MODEL, HEADS, D_MODEL // HEADS, D_MODEL // HEADS)
    module = SelfAttention(attention, causal=causal, window=window)
    segments = torch.arange(length)[None] // 300 + 1 if packed else None

    def forward() -> Tensor:
        with torch.set_grad_enabled(backward):
            return module(torch.randn(1, length, D_MODEL, requires_grad=backward), segments)

    return (lambda: forward().sum().backward()) if backward else forward


def make_model(length: int, *, window: int, training: bool) -> Run:
    """Return a training step on n source and n target tokens, or a translation's steps from n."""
    config = ModelConfig(
        source_vocab_size=VOCABULARY, target_vocab_size=VOCABULARY, window=window,
        num_encoder_layers=2, num_decoder_layers=2, max_positions=max(LENGTHS),
    )  # fmt: skip
    transformer = Transformer(config).train(training)
    source = torch.randint(VOCABULARY, (1, length))

    def step() -> None:
        transformer(source, source).sum().backward()

    @torch.inference_mode()
    def translate() -> None:
        state = transformer.start(transformer.encode(source, torch.ones_like(source)))
        for _ in range(STEPS):
            transformer.step(torch.zeros(4, dtype=torch.long), state)

    return step if training else translate


def make_cases() -> dict[str, Callable[[int], Run]]:
    """Return the cases by name."""
    found: dict[str, Callable[[int], Run]] = {}
    for window, causal, packed in (
        (WINDOW, False, False), (WINDOW, True, False), (WINDOW, False, True),
        (0, False, False), (0, True, False), (0, False, True),
    ):  # fmt: skip
        name = f"window {window}" if window else "full"
        name += ", causal" * causal + ", packed" * packed
        for backward in (False, True):
            found[f"{name}: {'forward and backward' if backward else 'forward'}"] = partial(
                make_layer, window=window, causal=causal, packed=packed, backward=backward
            )
    for window in (WINDOW, 0):
        name = f"Transformer, {f'window {window}' if window else 'full'}"
        found[f"{name}: training step"] = partial(make_model, window=window, training=True)
        found[f"{name}: translation"] = partial(make_model, window=window, training=False)
    return found


def time_lengths(make: Callable[[int], Run], lengths: list[int], repeats: int) -> list[float]:
    """Time a run at every length, interleaved: medians."""
    keep_large_allocations()
    runs = [make(n) for n in lengths]
    took: list[list[float]] = [[] for _ in lengths]
    for repeat in range(repeats + 1):
        for run, times in zip(runs, took, strict=True):
            start = time.perf_counter()
            run()
            if repeat:  # the first repeat is the warm-up
                times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in took]


def measure_peak(case: str, length: int) -> int:
    """Measure a run's peak memory in a fresh process, in bytes."""
    command = [sys.executable, __file__, "--peak", case, "--lengths", str(length)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_own_peak(make: Callable[[int], Run], length: int) -> int:
    """Return by how many bytes a run raises the peak memory of this process."""
    make(max(512, length // 8))()  # libraries load and threads start
    run = make(length)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _read_status("VmRSS")
    run()
    return _read_status("VmHWM") - before


def _read_status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def format_row(label: str, values: list[float], unit: str) -> str:
    """Return a table row with the values of all lengths and their growth."""
    cells = [f"{values[0]:>9.1f}      "]
    cells += [f"{b:>9.1f} ({b / a:.2f})" for a, b in itertools.pairwise(values)]
    return f"| {label} | {' | '.join(cells)} | {unit} |"


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--no-time", action="store_true", help="memory only")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.manual_seed(1)
    if options.peak:
        print(measure_own_peak(make_cases()[options.peak], options.lengths[0]))
        return
    found = {}
    if not options.json:
        print(f"| case | {' | '.join(f'n = {n:,}' for n in options.lengths)} | |")
        print("|---" * (len(options.lengths) + 2) + "|")
    for name, make in make_cases().items():
        if options.only not in name:
            continue
        megabytes = [measure_peak(name, n) / 1e6 for n in options.lengths]
        found[name] = {"megabytes": megabytes}
        if not options.no_time:
            milliseconds = [1000 * s for s in time_lengths(make, options.lengths, options.repeats)]
            found[name]["milliseconds"] = milliseconds
        if not options.json:
            for unit, values in reversed(found[name].items()):
                print(format_row(name, values, unit), flush=True)
    if options.json:
        print(json.dumps({"lengths": options.lengths, "cases": found}, indent=1))


if __name__ == "__main__":
    main()
