"""Measure the training speed of a model with random weights on random sentences."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

from headway.config import Config
from headway.ext.bench.bench_results import Measured, Speed
from headway.ext.bench.flop import training_flop
from headway.ext.bench.synthetic import prepare_synthetic
from headway.ext.bench.timing import time_work
from headway.model import Transformer, parameter_count
from headway.training import Feed, Machine, Trainer, parallel, peak_memory

MAX_STEPS = 20  # of one repeat
REPEAT_SECONDS = 2.0  # about as long as a repeat takes


def measure_training(config: Config, machine: Machine, text: str, repeats: int) -> Measured:
    """Measure optimizer steps, as `headway train` takes them, on batches prepared beforehand.

    Args:
        config: Settings of the model, the training and the vocabulary size.
        machine: Device, precision and threads; the caller has configured the process for them.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        repeats: How often the same steps are repeated.
    """
    device = machine.torch_device
    shape = config.largest_model()
    with tempfile.TemporaryDirectory() as directory:
        longest = min(config.text.max_tokens, config.training.micro_batch_tokens)
        count = MAX_STEPS * max(1000, config.training.batch_tokens // 10)
        vocab_size, seed = shape.target_vocab_size, config.training.seed
        data = prepare_synthetic(Path(directory), text, count, vocab_size, longest, seed)
        model = Transformer(shape).to(device)
        trainer = Trainer(model, config.training, machine.precision)
        feed = Feed(data, config.training, device)
        planned = feed.plan(feed.position)
        work = [feed.next() for _ in range(MAX_STEPS)]

        def take(steps: int) -> float:
            return time_work(lambda: [trainer.step(step) for step in work[:steps]], device)

        take(1)
        steps = max(1, min(MAX_STEPS, round(REPEAT_SECONDS / take(1))))
        (steps,) = parallel.maximum([steps])  # all ranks take equally many
        # Warm up with every batch shape. On a GPU twice: code is compiled, then recorded.
        for _ in range(2 if device.type == "cuda" else steps > 1):
            take(steps)
        times = [take(steps) for _ in range(repeats)]
        (memory,) = parallel.sum_counts([peak_memory(trainer.device)])
        # Rank 0 needs the micro-batches of all ranks for what follows.
        plan = planned[: steps * feed.micro_batches]
        batches = [feed.batch(rows) for rows in plan]
        pairs = np.concatenate(plan)
        sides = data.train.source_lengths, data.train.target_lengths
        lengths = (side[pairs].tolist() for side in sides)
        speed = Speed(
            tokens=sum(step.target_tokens for step in work[:steps]),
            seconds=times,
            flop=training_flop(shape, *lengths),
            facts={
                "steps": steps,
                "source_padding": _padding([batch.source_segments for batch in batches]),
                "target_padding": _padding([batch.target_segments for batch in batches]),
            },
        )
    return Measured([speed], machine.precision, parameter_count(model), memory)


def _padding(segments: Sequence[Tensor]) -> float:
    """Return the share of positions without a token."""
    positions = sum(s.numel() for s in segments)
    return 1 - sum(int((s > 0).sum()) for s in segments) / positions
