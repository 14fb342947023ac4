"""A gradient that a GPU replays has the bits of one that is computed, whatever the batch and its masks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from headway.config import ModelConfig, TrainingConfig
from headway.kernels import dropout, normalization
from headway.kernels.device_dropout import apply_mask_on_device
from headway.kernels.packing import pack_sides
from headway.model import make_model
from headway.text.batches import Batch, fixed_shape
from headway.training.steps.recorded_gradient import MOST_SHAPES, RecordedGradient
from headway.training.steps.trainer import Trainer

CPU = torch.device("cpu")
LENGTHS = ([5, 7, 3], [4, 4, 6], [9, 2, 3], [1, 6, 8])


def make_row(lengths: list[int], vocab_size: int, entries: int = 6) -> Batch:
    """A packed row of random tokens; the sentences of both sides have the same lengths."""
    shape = replace(fixed_shape(20, 12, 5), sentences=entries)
    packings = pack_sides([np.array(lengths)] * 2, shape)
    segments = torch.zeros(1, shape.tokens, dtype=torch.long)
    segments[0, : sum(lengths)] = torch.arange(1, 1 + len(lengths)).repeat_interleave(
        torch.tensor(lengths)
    )
    source, target = (torch.randint(1, vocab_size - 1, segments.shape) for _ in range(2))
    pairs = np.arange(len(lengths))
    return Batch(source, segments, target, segments, pairs, sum(lengths), True, *packings)


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Trainer:
    """A trainer whose masks come as on a GPU."""
    for module in (dropout, normalization):
        monkeypatch.setattr(module, "apply_mask", apply_mask_on_device)
    monkeypatch.setattr(normalization, "_fits_native", lambda *_: False)
    torch.manual_seed(1)
    shape = ModelConfig(
        source_vocab_size=29, target_vocab_size=29, num_encoder_layers=2, num_decoder_layers=2,
        d_model=24, d_ff=37, num_heads=3, dropout=0.3,
    )  # fmt: skip
    return Trainer(make_model(shape).train(), TrainingConfig(agreement=1.0))


def compute(function: Any, batch: Batch, seed: int) -> list[Tensor]:
    torch.manual_seed(seed)
    return function(batch, torch.tensor(float(10 + seed)))


def test_a_replay_computes_what_an_ordinary_computation_does(trainer: Trainer) -> None:
    vocab_size = trainer.model.config.target_vocab_size
    rows = [make_row(lengths, vocab_size) for lengths in LENGTHS]
    recorded = RecordedGradient(trainer._compute, CPU)
    found = [compute(recorded, row, seed) for seed, row in enumerate(rows)]
    for seed, row in enumerate(
        rows
    ):  # afterwards, so that no result was overwritten by a later one
        expected = compute(trainer._compute, row, seed)
        assert all(map(torch.equal, found[seed], expected))
        assert not torch.equal(found[seed][-1], compute(trainer._compute, row, seed + 9)[-1])
    assert len(recorded._recordings) == 1


def test_a_recording_has_tensors_of_its_own_for_each_of_a_few_shapes(trainer: Trainer) -> None:
    vocab_size = trainer.model.config.target_vocab_size
    recorded = RecordedGradient(trainer._compute, CPU)
    for entries in range(6, 6 + 2 * MOST_SHAPES):
        for seed, lengths in enumerate(LENGTHS[:2]):
            row = make_row(lengths, vocab_size, entries)
            before = row.source.clone()
            found = compute(recorded, row, seed)
            assert all(map(torch.equal, found, compute(trainer._compute, row, seed)))
            assert torch.equal(row.source, before)
    assert len(recorded._recordings) == MOST_SHAPES


def test_only_a_gpu_records_and_only_what_it_can_replay(trainer: Trainer) -> None:
    assert trainer._has_only_masks
    row = make_row(LENGTHS[0], trainer.model.config.target_vocab_size)
    trainer.compute(row, 10)
    assert not trainer.recorded._recordings
    cut = Trainer(trainer.model, replace(trainer.config, cut=0.1))
    assert not cut._has_only_masks
