"""A sharded run trains the weights of one process, bit for bit, and each rank holds its share."""

import importlib

import numpy as np
import pytest
import torch

from headway.cli.main import dispatch
from headway.config import ModelConfig, TrainingConfig
from headway.errors import UsageError
from headway.model import Transformer
from headway.text.batches import Batch
from headway.training import parallel
from headway.training.steps.gradient_sum import share_of, turns_of
from headway.training.steps.trainer import Step, Trainer
from support.ranks import in_ranks
from support.runs import assert_equal_runs, command

SHAPE = {
    "source_vocab_size": 33, "target_vocab_size": 33, "num_encoder_layers": 2,
    "num_decoder_layers": 2, "d_model": 32, "d_ff": 64, "num_heads": 2,
}  # fmt: skip


def micro_batch(number):
    """A micro-batch of random subwords."""
    generator = torch.Generator().manual_seed(number)
    source, target = (torch.randint(0, 30, (3, 5 + number % 3), generator=generator) for _ in "st")
    ones = torch.ones_like(source)
    return Batch(source, ones, target, ones, np.arange(3), target.numel())


def take_steps(shard, precision, tying, counts, **settings):
    """In a rank: take steps of so many micro-batches; return what a checkpoint would hold, and losses."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    other = {} if tying == "three-way" else {"target_vocab_size": 31}
    model = Transformer(ModelConfig(**SHAPE | other, tying=tying))
    config = TrainingConfig(
        shard=shard, batch_tokens=80, micro_batch_tokens=10, warmup_steps=4, max_steps=9, **settings
    )
    trainer = Trainer(model, config, precision)
    divide = turns_of if shard else share_of
    reports = []
    for step, count in enumerate(counts):
        batches = [micro_batch(100 * step + number) for number in range(count)]
        own = divide(parallel.rank(), parallel.world_size(), count)
        tokens = sum(batch.target_tokens for batch in batches)
        reports.append(trainer.step(Step([batches[number] for number in own], count, tokens)))
    held = sum(p.nbytes for p in trainer.parameters.values())
    (adam,) = trainer.optimizers
    held += sum(v.nbytes for state in adam.state.values() for v in state.values())
    tensors = {
        f"{file} {name}": tensor.tolist()
        for file, group in trainer.tensors().items()
        for name, tensor in group.items()
        if parallel.rank() == 0
    }
    return tensors, [str(report) for report in reports], held


COUNTS = [7, 4, 1]  # a step whose rounds are full, and steps at the ends of epochs


CASES = [
    ("fp32", "three-way", {"clip_norm": 0.5}),
    ("bf16", "none", {}),
    ("fp32", "target", {}),
]


def take_all_steps(shard):
    """In a rank: train all cases."""
    return [
        take_steps(shard, precision, tying, COUNTS, **settings)
        for precision, tying, settings in CASES
    ]


@pytest.mark.slow
def test_a_sharded_model_is_trained_to_the_same_bits_and_each_rank_holds_half():
    importlib.import_module("headway.training.steps.sharding")  # once, and not in each rank
    found = in_ranks(2, take_all_steps, True)
    for (alone, reports, held), first, second in zip(take_all_steps(False), *found, strict=True):
        assert first[0] == alone
        assert first[1] == second[1] == reports
        assert all(0.45 * held < rank[2] < 0.55 * held for rank in (first, second))


@pytest.mark.slow
def test_a_run_may_go_on_sharded(corpus, tmp_path):
    changes = {
        "model__d_model": 32, "model__d_ff": 64, "training__batch_tokens": 280,
        "training__average": 3,
    }  # fmt: skip
    # Both end twice, because every end validates the average, and may install it. What a sharded run
    # writes equals what a whole one writes, so the other order needs no test.
    for name, turns in (("whole", [False, False]), ("both", [False, True])):
        for shard, end in zip(turns, (4, 9), strict=True):
            other = {"training__shard": str(shard).lower(), "training__max_steps": end}
            words = command(tmp_path / name, corpus, **changes | other)
            assert dispatch([*words, *(["--ranks", "2"] if shard else [])]) == 0
    assert_equal_runs(tmp_path / "both", tmp_path / "whole")


def test_one_rank_cannot_divide_a_model(corpus, tmp_path):
    words = command(tmp_path / "run", corpus, training__shard="true")
    with pytest.raises(UsageError, match=r"training.shard = true: .* give --ranks 2 or more"):
        dispatch([*words, "--ranks", "1"])
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match=r"give --ranks 2 or more"):
        take_steps(True, "fp32", "target", [])
