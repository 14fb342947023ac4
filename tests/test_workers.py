"""Threads that share a step: together they are one, and the same each time."""

import numpy as np
import pytest
import torch

from headway.config import ModelConfig, TrainingConfig
from headway.model import Transformer
from headway.text.batches import part
from headway.training import workers
from headway.training.trainer import Trainer
from headway.training.workers import sharing
from test_objective import padded_batch


def random_batch(vocab_size, *, rows, longest, seed):
    torch.manual_seed(seed)
    return padded_batch((1 + torch.randint(longest, (rows, 2))).tolist(), vocab_size)


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    before = torch.get_num_threads()
    monkeypatch.setattr(workers, "SMALLEST_SHARE", 1)
    yield
    torch.set_num_threads(before)


def steps(threads, pieces, dropout=0.0, attention_dropout=0.0, count=3):
    torch.set_num_threads(threads)
    torch.manual_seed(5)
    model = Transformer(
        ModelConfig(
            source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2,
            num_encoder_layers=2, num_decoder_layers=2, dropout=dropout,
            attention_dropout=attention_dropout,
        )
    )  # fmt: skip
    trainer = Trainer(model, TrainingConfig(warmup_steps=7), "fp32")
    torch.manual_seed(6)
    reports = []
    for step in range(count):
        batches = [random_batch(31, rows=7, longest=11, seed=10 * step + i) for i in range(pieces)]
        reports.append(trainer.step(batches))
    return reports, {n: p.detach().clone() for n, p in model.named_parameters()}


@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("threads", [2, 3])
def test_several_threads_take_the_step_of_one(threads, pieces):
    one, weights = steps(1, pieces)
    several, shared = steps(threads, pieces)
    for a, b in zip(one, several, strict=True):
        assert a.tokens == b.tokens
        assert b.loss == pytest.approx(a.loss, rel=1e-6)
        assert b.nll == pytest.approx(a.nll, rel=1e-6)
        assert b.gradient_norm == pytest.approx(a.gradient_norm, rel=1e-5)
    for name, weight in weights.items():
        torch.testing.assert_close(shared[name], weight, rtol=0, atol=2e-5)


@pytest.mark.parametrize("attention_dropout", [0.0, 0.3])
def test_the_same_each_time_with_dropout(attention_dropout):
    first = steps(3, 2, 0.3, attention_dropout, count=5)
    for _ in range(3):
        again = steps(3, 2, 0.3, attention_dropout, count=5)
        assert again[0] == first[0]
        assert all(torch.equal(again[1][n], p) for n, p in first[1].items())


def test_threads_draw_masks_of_their_own():
    batch = random_batch(31, rows=1, longest=11, seed=1)
    twice = type(batch)(
        *(torch.cat((t, t)) for t in (batch.source, batch.source_segments, batch.target,
                                      batch.target_segments)),
        rows=np.arange(2), target_tokens=2 * batch.target_tokens,
    )  # fmt: skip
    torch.set_num_threads(2)
    torch.manual_seed(5)
    config = ModelConfig(source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24,
                         num_heads=2, dropout=0.5)  # fmt: skip
    model = Transformer(config)
    trainer = Trainer(model, TrainingConfig(), "fp32")
    trainer.workers.train()
    sums = [
        trainer.workers._work(i, [part(twice, i, 2)], 1, seed, 1).tolist()
        for i, seed in ((0, 3), (1, 3), (1, 4))
    ]
    assert sums[0] == sums[1] != sums[2]


def test_a_copy_shares_weights_and_no_gradient():
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2
    )
    model = Transformer(config)
    twin = sharing(model)
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        assert a is not b
        assert a.data_ptr() == b.data_ptr()
    batch = random_batch(31, rows=3, longest=5, seed=2)
    twin(batch.source, batch.target).sum().backward()
    assert all(p.grad is None for p in model.parameters())
    assert not twin.source_embedding.weight.grad[-1].any()  # `<pad>` stays zero there too


def test_parts_make_up_the_batch():
    batch = random_batch(31, rows=7, longest=11, seed=3)
    parts = [part(batch, i, 3) for i in range(3)]
    assert sum(p.target_tokens for p in parts) == batch.target_tokens
    rows = sorted(r.tolist() for p in parts for r in p.target)
    assert rows == sorted(r.tolist() for r in batch.target)


def test_a_mistake_in_a_thread_is_not_lost():
    torch.set_num_threads(2)
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2
    )
    trainer = Trainer(Transformer(config), TrainingConfig(), "fp32")
    bad = random_batch(31, rows=4, longest=5, seed=4)
    bad.source[1::2] = 31  # no such piece, in the second thread's share
    with pytest.raises(IndexError):
        trainer.step([bad])


def test_copies_follow_the_model():
    torch.set_num_threads(2)
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2, dropout=0.3
    )
    model = Transformer(config)
    trainer = Trainer(model, TrainingConfig(), "fp32")
    batch = random_batch(31, rows=6, longest=9, seed=4)
    trainer.step([batch])
    frozen = model.encoder.layers[0].feed_forward.inner.weight
    frozen.requires_grad_(False)
    before = frozen.clone()
    model.encoder.eval()
    model.dropout.p = 0.1
    trainer.step([batch])
    copied = trainer.workers.models[1]
    assert torch.equal(frozen, before)
    assert not copied.encoder.training
    assert copied.dropout.p == 0.1


def test_after_a_mistake_no_gradient_is_left():
    torch.set_num_threads(2)
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2
    )
    trainer = Trainer(Transformer(config), TrainingConfig(), "fp32")
    bad = random_batch(31, rows=4, longest=5, seed=4)
    bad.source[1::2] = 31
    with pytest.raises(IndexError):
        trainer.step([bad])
    assert all(p.grad is None for m in trainer.workers.models for p in m.parameters())
