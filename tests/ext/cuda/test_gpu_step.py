"""A training step on a GPU, as far as a CPU can show it: shapes, launches, bytes, and what it waits for."""

from contextlib import nullcontext
from dataclasses import replace
from functools import partialmethod
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from headway.config import TrainingConfig
from headway.config.sections import PRESETS
from headway.ext.cuda import gpu_operations
from headway.ext.cuda.gpu_operations import GpuOperations
from headway.model import make_model, ops
from headway.text.batches import fixed_shape
from headway.text.prepared import PreparedData
from headway.training.steps import trainer as trainer_module
from headway.training.steps.feed import Feed
from headway.training.steps.trainer import Trainer
from support.step_counts import count_step, make_batch_of

LENGTHS = [25] * 1000


def base():
    return replace(PRESETS["base"].model, source_vocab_size=37000, target_vocab_size=37000)


def test_a_step_of_base_takes_few_launches_and_waits_for_nothing_but_its_losses(monkeypatch):
    packed = count_step(base(), LENGTHS, packed=True, monkeypatch=monkeypatch)
    padded = count_step(base(), LENGTHS, packed=False, monkeypatch=monkeypatch)
    assert padded.launches.total() <= 1600
    assert packed.launches.total() <= 1600
    assert packed.launches["_varlen_attn"] == packed.launches["_varlen_attn_backward"] == 18
    assert packed.bytes.total() <= 1.2 * padded.bytes.total()


@pytest.mark.parametrize(
    ("is_packed", "changes"),
    [(True, {"agreement": 5.0, "cut": 0.1}), (False, {"optimizer": "muon"})],
)
def test_a_step_takes_no_tensor_of_the_processor_and_reads_no_number(
    is_packed, changes, monkeypatch
):
    """The meta device has no numbers, and torch refuses to mix its tensors with others.

    The step takes the ways of a GPU, dropout included.
    """
    # torch has neither autocast nor a fused Adam there.
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    monkeypatch.setattr(
        torch.optim.Adam, "__init__", partialmethod(adam_without_fusion, torch.optim.Adam.__init__)
    )
    monkeypatch.setattr(torch.optim.Adam, "step", lambda _: None)
    monkeypatch.setattr(trainer_module, "read_numbers", lambda *_: [1.0, 1.0, 1.0])
    sizes = {
        "d_model": 32,
        "d_ff": 48,
        "num_heads": 2,
        "source_vocab_size": 99,
        "target_vocab_size": 99,
    }
    model = make_model(replace(base(), **sizes)).to("meta", torch.bfloat16)
    for positions in (model.source_positions, model.target_positions):
        positions.table = torch.empty(300, 32, device="meta", dtype=torch.bfloat16)
    monkeypatch.setitem(ops._installed, "meta", GpuOperations())
    drawn = Mock(wraps=gpu_operations.apply_mask_on_device)
    monkeypatch.setattr(gpu_operations, "apply_mask_on_device", drawn)
    attended = Mock(wraps=gpu_operations.varlen_attention)
    monkeypatch.setattr(gpu_operations, "varlen_attention", attended)
    trainer = Trainer(model, replace(TrainingConfig(), **changes))
    report = trainer.step([make_batch_of([25] * 20, packed=is_packed).to("meta")])
    assert not report.skipped
    assert drawn.call_count == 32
    assert attended.call_count == 18 * is_packed


def adam_without_fusion(adam, create, *args, **settings):
    create(adam, *args, **settings | {"fused": False})


def test_packed_rows_of_many_epochs_have_one_shape(uninterrupted_run, monkeypatch):
    data = PreparedData.open(uninterrupted_run / "data")
    config = TrainingConfig(batch_tokens=600, micro_batch_tokens=300, packed=True)
    feed = Feed(data, config, torch.device("meta"))
    shapes, sentences = set(), []
    for _ in range(120):
        for batch in feed.next().batches:
            assert batch.source_packing is not None
            assert batch.target_packing is not None
            assert batch.source.is_meta
            packings = (batch.source_packing, batch.target_packing)
            sentences.append(len(batch.pair_indices))
            shapes.add((
                batch.source.shape, batch.target.shape, batch.source_segments.shape,
                *(p.bounds.shape for p in packings), *(p.positions.shape for p in packings),
                *(p.longest for p in packings),
            ))  # fmt: skip
    assert feed.position.epoch > 10
    assert len(shapes) == 1
    # Few entries of the list are empty: they cost a GPU time and memory.
    assert feed.shape is not None
    assert feed.shape.sentences <= 1.2 * np.median(sentences) + 17
    assert fixed_shape(25000, 256, 25).entries < 1.25 * 1000


def test_labels_beyond_the_vocabulary_are_found_before_a_gpu_gets_them(uninterrupted_run):
    data = PreparedData.open(uninterrupted_run / "data")
    feed = Feed(data, TrainingConfig(batch_tokens=140), torch.device("meta"))
    rows = feed.plan(feed.position)[0]
    feed.batch(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(data.tokenizer), "target_vocab_size", 5)
        with pytest.raises(IndexError, match=r"^label \d+ of 5 tokens$"):
            feed.batch(rows)


def test_the_dry_run_of_a_gpu_holds_the_sums_of_earlier_micro_batches():
    small = replace(base(), d_model=8, d_ff=8, source_vocab_size=9, target_vocab_size=9)
    for micro_batch_tokens, count in ((25000, 0), (12500, 1), (3125, 3)):
        config = TrainingConfig(batch_tokens=25000, micro_batch_tokens=micro_batch_tokens)
        trainer = Trainer(make_model(small), config)
        sums = trainer.make_partial_sums()
        assert len(sums) == count
        shapes = [p.shape for p in trainer.parameters.values()]
        assert all([t.shape for t in each] == shapes for each in sums)
