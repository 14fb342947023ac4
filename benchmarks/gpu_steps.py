"""Compare the gradients that a GPU replays with those that it computes: bits and time.

    python benchmarks/gpu_steps.py [--device cuda] [--presets tiny quick base]

One packed micro-batch a step, in bf16, on random sentences as long as image captions. For each preset: in how many
tensors the gradients of eight micro-batches differ from those of an ordinary computation; then milliseconds, means of eight.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from headway.config import PRESETS
from headway.ext.bench.synthetic import prepare_synthetic
from headway.ext.bench.timing import synchronize
from headway.ext.cuda.recorded_gradient import Compute, RecordedGradient
from headway.model import Transformer
from headway.model.visibility import move
from headway.text.batches import Batch
from headway.training.machine import seed_generators
from headway.training.steps.feed import Feed
from headway.training.steps.trainer import Trainer

COUNT = 8  # micro-batches
WARM_UPS = 2


def measure(name: str, device: torch.device) -> bool:
    """Print the differences and the times of a preset; return whether there is a recording and no difference."""
    training = PRESETS[name].training
    training = replace(training, packed=True, micro_batch_tokens=training.batch_tokens)
    config = replace(PRESETS[name], training=training)
    shape = config.largest_model()
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
        recorded = RecordedGradient(trainer.model, device)
        feed = Feed(data, training, device)
        feed.plan(feed.position)
        work = [feed.next() for _ in range(COUNT)]

        def replay(batch: Batch, tokens: Tensor) -> list[Tensor]:
            return recorded(trainer._compute, batch, tokens)

        def gradient(compute: Compute, number: int) -> list[Tensor]:
            seed_generators(device, training.seed, number)
            tokens = move(torch.tensor(float(work[number].target_tokens)), device)
            return compute(work[number].batches[0], tokens)

        def count_differences(compute: Compute) -> list[int]:
            """Return how many tensors differ from those of an ordinary computation, for each micro-batch."""
            return [
                sum(map(differ, gradient(trainer._compute, number), gradient(compute, number)))
                for number in range(COUNT)
            ]

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

        found = [count_differences(compute) for compute in (trainer._compute, replay)]
        trainer.step(work[0])  # a replay must read the new weights
        found.append(count_differences(replay))
        kinds = ("ordinary again", "replayed", "replayed after a step")
        for kind, differences in zip(kinds, found, strict=True):
            print(f"{name}: tensors that differ, {kind}: {differences}")
        is_recorded = device.type != "cuda" or recorded.has_recorded
        print(f"{name}: {'recorded' if is_recorded else 'NOT RECORDED'}")
        computed = time_each(lambda number: gradient(trainer._compute, number))
        replayed = time_each(lambda number: gradient(replay, number))
        step = time_each(lambda number: trainer.step(work[number]))
        tokens = sum(each.target_tokens for each in work) / COUNT
        print(
            f"{name}: gradient {computed:.1f} ms, replayed {replayed:.1f} ms, whole step {step:.1f} ms:"
            f" {1000 * tokens / step:,.0f} target tokens/s",
            flush=True,
        )
    return is_recorded and not any(map(any, found))


def differ(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors differ by a bit."""
    return not torch.equal(one, other)


def main() -> int:
    """Measure the presets; return 1 if a replay differs, or if there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=["tiny", "quick", "base"])
    args = parser.parse_args()
    done = [measure(name, torch.device(args.device)) for name in args.presets]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
