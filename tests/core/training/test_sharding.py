"""A sharded model has the gradients of a whole one within rounding, its runs resume exactly, and each rank holds its share."""

import importlib

import numpy as np
import pytest
import torch

from headway.cli.main import dispatch
from headway.config import ModelConfig, TrainingConfig
from headway.errors import LostRankError, UsageError
from headway.model import Transformer
from headway.text.batches import Batch
from headway.training import parallel
from headway.training.steps.gradient_sum import share_of
from headway.training.steps.sharding import ShardedTrainer, turns_of
from headway.training.steps.trainer import Step, Trainer
from support.ranks import in_ranks
from support.runs import command, metrics

SHAPE = {
    "source_vocab_size": 33, "target_vocab_size": 33, "num_encoder_layers": 1,
    "num_decoder_layers": 1, "d_model": 32, "d_ff": 64, "num_heads": 2,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _import_once():
    """Import what takes seconds before there are ranks, which are forked: PyTorch imports its compiler at the first use of a sharded tensor."""
    for name in ("torch.distributed.fsdp", "torch._dynamo"):
        importlib.import_module(name)


def micro_batch(number):
    """A micro-batch of random subwords."""
    generator = torch.Generator().manual_seed(number)
    source, target = (torch.randint(0, 30, (3, 5 + number % 3), generator=generator) for _ in "st")
    ones = torch.ones_like(source)
    return Batch(source, ones, target, ones, np.arange(3), target.numel())


def own_bytes(tensor):
    """The bytes of a tensor that this rank has."""
    return tensor.to_local().nbytes if hasattr(tensor, "to_local") else tensor.nbytes


def take_steps(shard, precision, tying, counts, **settings):
    """In a rank: take steps of so many micro-batches.

    Returns the means of the gradients after the first step on rank 0, what was reported of each step,
    and the bytes of this rank's weights and optimizer.
    """
    torch.set_num_threads(1)
    torch.manual_seed(3)
    other = {} if tying == "three-way" else {"target_vocab_size": 31}
    model = Transformer(ModelConfig(**SHAPE | other, tying=tying))
    config = TrainingConfig(
        shard=shard, batch_tokens=80, micro_batch_tokens=10, warmup_steps=4, max_steps=9, **settings
    )
    trainer = (ShardedTrainer if shard else Trainer)(model, config, precision)
    divide = turns_of if shard else share_of
    gradients, numbers = {}, []
    for step, count in enumerate(counts):
        batches = [micro_batch(100 * step + number) for number in range(count)]
        own = divide(parallel.rank(), parallel.world_size(), count)
        tokens = sum(batch.target_tokens for batch in batches)
        report = trainer.step(Step([batches[number] for number in own], count, tokens))
        numbers.append([report.loss, report.nll, report.gradient_norm])
        optimizer = {} if step else trainer.tensors()["optimizer"]
        if not parallel.rank():
            means = {name: own for name, own in optimizer.items() if name.startswith("exp_avg.")}
            gradients |= {name: own.numpy().copy() for name, own in means.items()}
    held = sum(map(own_bytes, trainer.parameters.values()))
    (adam,) = trainer.optimizers
    held += sum(own_bytes(v) for state in adam.state.values() for v in state.values())
    return gradients, numbers, held


COUNTS = [7, 4, 1]  # a step whose rounds are full, and steps at the ends of epochs
CASES = [
    ("fp32", "three-way", {"clip_norm": 0.5}, 1e-4),
    ("bf16", "none", {}, 5e-2),
    ("fp32", "target", {}, 1e-4),
]


def take_all_steps(shard):
    """In a rank: train all cases."""
    return [
        take_steps(shard, precision, tying, COUNTS, **settings)
        for precision, tying, settings, _ in CASES
    ]


def test_a_sharded_model_has_the_gradients_of_a_whole_one_and_each_rank_holds_half():
    found = in_ranks(2, take_all_steps, True)
    for case, (alone, reports, held), first, second in zip(
        CASES, take_all_steps(False), *found, strict=True
    ):
        rounding = case[-1]
        assert alone.keys() == first[0].keys()
        for name, gradient in alone.items():
            most = rounding * np.abs(gradient).max()
            assert np.abs(first[0][name] - gradient).max() <= most, name
        assert first[1] == second[1]
        assert np.allclose(first[1], reports, rtol=max(rounding / 5, 2e-4))
        assert all(0.45 * held < rank[2] < 0.55 * held for rank in (first, second))


def test_a_sharded_run_that_is_resumed_ends_with_the_same_bits_and_may_go_on_whole(
    corpus, tmp_path, forked_ranks
):
    changes = {
        "model__d_model": 32, "model__d_ff": 64, "training__batch_tokens": 280,
        "training__validate_every": 9, "training__checkpoint_every": 2, "training__average": 1,
    }  # fmt: skip

    def train(name, steps, shard=True):
        own = {"training__shard": str(shard).lower(), "training__max_steps": steps}
        words = command(tmp_path / name, corpus, **changes | own)
        assert dispatch([*words, *(["--ranks", "2"] if shard else [])]) == 0

    train("whole", 4)
    train("resumed", 2)
    train("resumed", 4)
    found = [tmp_path / name / "checkpoints/step-00000004" for name in ("whole", "resumed")]
    for file in ("model.safetensors", "optimizer.safetensors"):
        assert len({(checkpoint / file).read_bytes() for checkpoint in found}) == 1
    train("resumed", 5, shard=False)
    steps = [line for line in metrics(tmp_path / "resumed") if line["event"] == "step"]
    assert [line["step"] for line in steps] == [*range(1, 6)]
    assert abs(steps[-1]["loss"] - steps[-2]["loss"]) < 0.7


def lose_a_rank():
    """In a rank: the second one ends between the forward and the backward pass of the first."""
    torch.set_num_threads(1)
    config = TrainingConfig(shard=True, batch_tokens=80, micro_batch_tokens=10)
    trainer = ShardedTrainer(Transformer(ModelConfig(**SHAPE)), config)
    if parallel.rank():
        return trainer.objective(micro_batch(1))[1]
    with pytest.raises(LostRankError):
        trainer.compute(micro_batch(0), 100)
    return None


def test_a_rank_that_is_lost_in_the_backward_pass_is_named():
    in_ranks(2, lose_a_rank)


def test_one_rank_cannot_divide_a_model(corpus, tmp_path):
    words = command(tmp_path / "run", corpus, training__shard="true")
    with pytest.raises(UsageError, match=r"training.shard = true: .* give --ranks 2 or more"):
        dispatch([*words, "--ranks", "1"])
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageError, match=r"give --ranks 2 or more"):
        take_steps(True, "fp32", "target", [])
