"""Training speed of a model's shape on this machine, with random weights and sentences."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from headway.checks.bench import Bench, Spread, processor_name, shape_of
from headway.checks.products import matrix_rate, synchronize, training_flop
from headway.checks.synthetic import prepare_synthetic
from headway.config import Config
from headway.model import Transformer, parameter_count
from headway.training.feed import Feed
from headway.training.machine import Machine
from headway.training.trainer import Trainer

MOST_STEPS = 20  # of one repeat


@dataclass(frozen=True, kw_only=True)
class TrainingRow:
    """Training speed.

    Attributes:
        steps: Optimizer steps of a repeat.
        tokens: Target tokens of a repeat, without padding.
        seconds: Of a repeat.
        tokens_per_second: Of those.
        source_padding: Share of the source batches that is padding.
        target_padding: The same of the target.
        flop: `training_flop` of a repeat.
    """

    steps: int
    tokens: int
    seconds: Spread
    tokens_per_second: Spread
    source_padding: float
    target_padding: float
    flop: int


def bench_training(config: Config, text: str, *, repeats: int = 5, seconds: float = 2.0) -> Bench:
    """Measure optimizer steps, as `headway train` takes them, on batches made beforehand.

    Args:
        config: Its model's shape, training regime and vocabulary size count.
        text: What the sentences' lengths are like.
        repeats: Of the same steps.
        seconds: A repeat has as many steps as take about so long, at most 20.
    """
    machine = Machine.resolve(config.training)
    device = machine.torch_device
    shape = shape_of(config)
    with tempfile.TemporaryDirectory() as directory:
        longest = min(config.text.max_tokens, config.training.micro_batch_tokens)
        data = prepare_synthetic(
            Path(directory),
            text,
            MOST_STEPS * max(1000, config.training.batch_tokens // 10),
            shape.target_vocab_size,
            longest,
            config.training.seed,
        )
        torch.manual_seed(config.training.seed)
        model = Transformer(shape).to(device)
        trainer = Trainer(model, config.training, machine.precision)
        feed = Feed(data, config.training, device)
        work = [feed.next() for _ in range(MOST_STEPS)]

        def take(steps: int) -> float:
            synchronize(device)
            start = time.perf_counter()
            for step in work[:steps]:
                trainer.step(step)
            synchronize(device)
            return time.perf_counter() - start

        take(1)
        steps = max(1, min(MOST_STEPS, round(seconds / take(1))))
        # Every shape is met before it is timed; compiled and recorded code may want to see it twice.
        for _ in range(2 if device.type == "cuda" else steps > 1):
            take(steps)
        times = [take(steps) for _ in range(repeats)]
        memory = trainer.peak_memory  # before the matrix rate, which needs some of its own
        batches = [batch for step in work[:steps] for batch in step]
        tokens = sum(batch.target_tokens for batch in batches)
        row = TrainingRow(
            steps=steps,
            tokens=tokens,
            seconds=Spread.of(times),
            tokens_per_second=Spread.of([tokens / t for t in times]),
            source_padding=_padding([batch.source_segments for batch in batches]),
            target_padding=_padding([batch.target_segments for batch in batches]),
            flop=training_flop(
                shape,
                [int(n) for batch in batches for n in data.train.source_lengths[batch.rows]],
                [int(n) for batch in batches for n in data.train.target_lengths[batch.rows]],
            ),
        )
    return Bench(
        work="train",
        settings=config,
        processor=processor_name(device),
        device=str(device),
        precision=machine.precision,
        threads=torch.get_num_threads(),
        text=text,
        repeats=repeats,
        parameters=parameter_count(model),
        matrix_rate=matrix_rate(device, machine.precision),
        peak_memory=memory,
        rows=[row],
    )


def _padding(segments: Sequence[Tensor]) -> float:
    """Return the share of the places that hold no token."""
    places = sum(s.numel() for s in segments)
    return 1 - sum(int((s > 0).sum()) for s in segments) / places
