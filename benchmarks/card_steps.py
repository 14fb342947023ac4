"""Compare the gradients that a graphics card replays with those that it computes: bits and time.

    python benchmarks/card_steps.py [--device cuda] [--presets tiny quick base]

One packed micro-batch a step, in bf16, on random sentences as long as image captions. For each preset: in how
many of a gradient's tensors two ordinary computations of eight micro-batches differ, and a replay and an
ordinary one; then milliseconds, means of eight.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from headway.checks.bench import with_vocabulary_size
from headway.checks.matrix_rate import synchronize
from headway.checks.synthetic import prepare_synthetic
from headway.config import PRESETS
from headway.kernels.packing import move
from headway.model import Transformer
from headway.training.steps.feed import Feed
from headway.training.steps.random_numbers import seed_generators
from headway.training.steps.recorded_gradient import Compute
from headway.training.steps.trainer import Trainer

COUNT = 8  # micro-batches
WARM_UPS = 2


def measure(name: str, device: torch.device) -> None:
    """Print the differences and the times of a preset."""
    training = PRESETS[name].training
    training = replace(training, packed=True, micro_batch_tokens=training.batch_tokens)
    config = replace(PRESETS[name], training=training)
    shape = with_vocabulary_size(config)
    with tempfile.TemporaryDirectory() as directory:
        data = prepare_synthetic(
            Path(directory),
            "captions",
            2 * COUNT * training.batch_tokens,
            shape.target_vocab_size,
            config.text.max_tokens,
            training.seed,
        )
        torch.manual_seed(training.seed)
        trainer = Trainer(Transformer(shape).to(device), training, "bf16")
        trainer.set_training_mode()
        feed = Feed(data, training, device)
        feed.plan(feed.position)
        work = [feed.next() for _ in range(COUNT)]

        def gradient(compute: Compute, number: int) -> list[Tensor]:
            seed_generators(device, training.seed, number)
            tokens = move(torch.tensor(float(work[number].target_tokens)), device)
            return compute(work[number].batches[0], tokens)

        def all_gradients(compute: Compute) -> list[list[Tensor]]:
            return [gradient(compute, number) for number in range(COUNT)]

        def time_each(work_on: Callable[[int], object]) -> float:
            for _ in range(WARM_UPS):
                for number in range(COUNT):
                    work_on(number)
            synchronize(device)
            started = time.perf_counter()
            for number in range(COUNT):
                work_on(number)
            synchronize(device)
            return 1000 * (time.perf_counter() - started) / COUNT

        ordinary = all_gradients(trainer._compute)
        for kind, compute in (("again", trainer._compute), ("replayed", trainer.recorded)):
            differ = [
                sum(not torch.equal(one, other) for one, other in zip(*pair, strict=True))
                for pair in zip(ordinary, all_gradients(compute), strict=True)
            ]
            print(f"{name}, {kind}: {differ} of {len(ordinary[0])} tensors differ")
        del ordinary
        computed = time_each(lambda number: gradient(trainer._compute, number))
        replayed = time_each(lambda number: gradient(trainer.recorded, number))
        step = time_each(lambda number: trainer.step(work[number]))
        tokens = sum(each.target_tokens for each in work) / COUNT
        print(
            f"{name}: gradient {computed:.1f} ms, replayed {replayed:.1f} ms, whole step {step:.1f} ms:"
            f" {1000 * tokens / step:,.0f} target tokens/s",
            flush=True,
        )


def main() -> None:
    """Measure the presets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=["tiny", "quick", "base"])
    args = parser.parse_args()
    for name in args.presets:
        measure(name, torch.device(args.device))


if __name__ == "__main__":
    main()
