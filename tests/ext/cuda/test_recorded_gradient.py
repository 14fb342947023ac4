"""A gradient that a GPU replays has the bits of one that is computed, whatever the batch and its masks."""

import gc
import weakref
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from headway.config import ModelConfig, TrainingConfig
from headway.ext.cuda.dropout import apply_mask_on_device
from headway.ext.cuda.recorded_call import GraphMemory
from headway.ext.cuda.recorded_gradient import MOST_SHAPES, RecordedGradient
from headway.ext.native.native_operations import NativeOperations
from headway.model import make_model, ops
from headway.model.ops import Operations
from headway.model.visibility import pack_sides
from headway.text.batches import Batch, fixed_shape
from headway.training.steps.trainer import Trainer

CPU = torch.device("cpu")
LENGTHS = ([5, 7, 3], [4, 4, 6], [9, 2, 3], [1, 6, 8])


def make_row(lengths, vocab_size, entries=6):
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
def trainer(monkeypatch):
    """A trainer that draws its dropout masks in the way of a GPU."""

    class Drawing(NativeOperations):
        add_norm = Operations.add_norm

        def apply_mask(self, x, mask):
            return apply_mask_on_device(x, mask)

    monkeypatch.setitem(ops._installed, "cpu", Drawing())
    torch.manual_seed(1)
    shape = ModelConfig(
        source_vocab_size=29, target_vocab_size=29, num_encoder_layers=2, num_decoder_layers=2,
        d_model=24, d_ff=37, num_heads=3, dropout=0.3,
    )  # fmt: skip
    return Trainer(make_model(shape).train(), TrainingConfig(agreement=1.0))


class Recording:
    """Stands in for a CUDA graph: a replay reads the tensors that were recorded, and overwrites the recorded results."""

    def __init__(self, function):
        function()
        self.owner, self.function = function.func.__self__, function
        self.results = self.owner._gradient
        self.read = self.addresses()

    def addresses(self):
        read = [*self.owner._batch.tensors(), self.owner._tokens, self.owner._tape._numbers]
        return [tensor.data_ptr() for tensor in read]

    def replay(self):
        assert self.addresses() == self.read
        self.function()
        for mine, new in zip(self.results, self.owner._gradient, strict=True):
            mine.copy_(new)
        self.owner._gradient = self.results

    def pool(self):
        return (0, 0)


@pytest.fixture
def recordings(monkeypatch):
    """All recordings that are made."""
    made = []

    def record(memory, function):
        made.append(Recording(function))
        return made[-1]

    monkeypatch.setattr(GraphMemory, "record", record)
    monkeypatch.setattr(GraphMemory, "can_record", True, raising=False)
    monkeypatch.setattr(GraphMemory, "__init__", lambda memory, device, work: None)
    return made


def compute(function, batch, seed):
    torch.manual_seed(seed)
    return function(batch, torch.tensor(float(10 + seed)))


def make_rows(trainer, entries=6):
    return [make_row(each, trainer.model.config.target_vocab_size, entries) for each in LENGTHS]


def replaying(trainer):
    return partial(RecordedGradient(trainer.model, CPU), trainer._compute)


def test_a_replay_computes_what_an_ordinary_computation_does(trainer, recordings):
    rows, recorded = make_rows(trainer), replaying(trainer)
    found = []
    for seed, row in enumerate(rows):
        before = row.source.clone()
        found.append(compute(recorded, row, seed))
        assert torch.equal(row.source, before)
    for seed, row in enumerate(rows):  # afterwards: no result was overwritten by a later one
        expected = compute(trainer._compute, row, seed)
        assert all(map(torch.equal, found[seed], expected))
        assert not torch.equal(found[seed][-1], compute(trainer._compute, row, seed + 9)[-1])
    assert len(recordings) == 1
    assert recorded.func.has_recorded


def test_the_second_batch_of_each_of_a_few_shapes_is_recorded(trainer, recordings):
    recorded = replaying(trainer)
    for count, entries in enumerate(range(6, 6 + MOST_SHAPES + 2)):
        rows = make_rows(trainer, entries)[:3]  # one that is seen, one recorded, and one replayed
        if count == 1:  # the same tensors with another longest sentence
            rows = make_rows(trainer, 6)[:3]
            for row in rows:
                assert row.source_packing
                object.__setattr__(row.source_packing, "longest", 99)
        for seed, row in enumerate(rows):
            found = compute(recorded, row, seed)
            assert all(map(torch.equal, found, compute(trainer._compute, row, seed)))
            assert len(recordings) == min(count + (seed > 0), MOST_SHAPES)


def test_a_recording_keeps_what_it_reads(trainer, recordings):
    recorded = replaying(trainer)
    rows = make_rows(trainer)
    for seed in range(2):
        compute(recorded, rows[seed], seed)
    table = weakref.ref(trainer.model.source_positions.table)
    with torch.no_grad():
        trainer.model.source_positions.table_of(table().size(0) + 1)
    assert trainer.model.source_positions.table is not table()
    assert table() is not None


def test_where_nothing_can_be_recorded_results_are_not_kept(trainer):
    recorded = replaying(trainer)
    for seed, row in enumerate(make_rows(trainer)):
        found = compute(recorded, row, seed)
        assert all(map(torch.equal, found, compute(trainer._compute, row, seed)))
        kept = weakref.ref(found[0])
        del found
        assert kept() is None
    assert not recorded.func.has_recorded


def test_the_memory_of_a_trainer_is_freed_without_the_garbage_collector():
    model = make_model(ModelConfig(source_vocab_size=29, target_vocab_size=29, num_encoder_layers=1,
                                   num_decoder_layers=1, d_model=24, d_ff=37, num_heads=3))  # fmt: skip
    trainer = Trainer(model, TrainingConfig())
    freed = weakref.ref(trainer)
    gc.disable()
    try:
        del trainer
        assert freed() is None
    finally:
        gc.enable()
