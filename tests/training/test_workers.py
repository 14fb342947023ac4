"""Workers share a step: together they compute the result of one process, each time the same."""

import gc
import os

import numpy as np
import pytest
import torch
from test_objective import padded_batch

from headway.config import ModelConfig, TrainingConfig
from headway.model import Transformer
from headway.text.batches import split
from headway.training import worker as worker_module
from headway.training import workers
from headway.training.trainer import Trainer

pytestmark = pytest.mark.slow  # each worker takes two seconds to start


def random_batch(vocab_size, *, rows, longest, seed):
    torch.manual_seed(seed)
    return padded_batch((1 + torch.randint(longest, (rows, 2))).tolist(), vocab_size)


CONFIG = ModelConfig(source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2)


@pytest.fixture(autouse=True)
def _small_shares(monkeypatch):
    monkeypatch.setattr(workers, "MIN_TOKENS_PER_WORKER", 1)


@pytest.mark.parametrize("threads", range(1, 40))
def test_no_thread_is_left_idle(threads):
    torch.set_num_threads(threads)
    found = workers.Workers(Transformer(CONFIG), TrainingConfig(), threads, False)
    dealt = [found._threads_of(number) for number in range(found.max_workers)]
    assert sum(dealt) == threads
    assert max(dealt) - min(dealt) <= 1
    assert (
        threads % found.max_workers <= 1 + threads // 9
    )  # more threads than the slowest worker can use
    assert found.max_workers == min(threads, 8) or threads > 9


def steps(threads, micro_batches, dropout=0.0, attention_dropout=0.0, count=3):
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
        batches = [
            random_batch(31, rows=7, longest=11, seed=10 * step + i) for i in range(micro_batches)
        ]
        reports.append(trainer.step(batches))
    return reports, {n: p.detach().clone() for n, p in model.named_parameters()}


@pytest.mark.parametrize(("threads", "micro_batches"), [(2, 1), (3, 2), (2, 3)])
def test_several_workers_take_the_same_step_as_one_process(threads, micro_batches):
    one, weights = steps(1, micro_batches)
    several, shared = steps(threads, micro_batches)
    for a, b in zip(one, several, strict=True):
        assert a.tokens == b.tokens
        assert b.loss == pytest.approx(a.loss, rel=1e-6)
        assert b.nll == pytest.approx(a.nll, rel=1e-6)
        assert b.gradient_norm == pytest.approx(a.gradient_norm, rel=1e-5)
    for name, weight in weights.items():
        torch.testing.assert_close(shared[name], weight, rtol=0, atol=2e-5)


def test_workers_repeat_their_results_with_dropout():
    first = steps(2, 1, 0.3, attention_dropout=0.3, count=5)
    again = steps(2, 1, 0.3, attention_dropout=0.3, count=5)
    assert again[0] == first[0]
    assert all(torch.equal(again[1][n], p) for n, p in first[1].items())


def small_trainer(dropout=0.0, threads=2):
    torch.set_num_threads(threads)
    torch.manual_seed(5)
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, d_model=16, d_ff=24, num_heads=2,
        dropout=dropout,
    )  # fmt: skip
    return Trainer(Transformer(config), TrainingConfig(), "fp32")


def test_each_worker_draws_its_own_dropout_masks():
    batch = random_batch(31, rows=1, longest=11, seed=1)
    twice = type(batch)(
        *(torch.cat((t, t)) for t in (batch.source, batch.source_segments, batch.target,
                                      batch.target_segments)),
        pair_indices=np.arange(2), target_tokens=2 * batch.target_tokens,
    )  # fmt: skip
    trainer = small_trainer(dropout=0.5)
    trainer.workers.train()
    trainer.workers.accumulate([twice], 1)
    (other,) = trainer.workers.workers
    sums = []
    for seed in (3, 3, 4):
        other.start(split(twice, 2)[1:], 1, seed)
        sums.append(other.finish().tolist())
    assert sums[0] == sums[1] != sums[2]


def test_weights_are_shared_and_padding_stays_zero():
    trainer = small_trainer()
    for seed in range(3):
        trainer.step([random_batch(31, rows=5, longest=9, seed=seed)])
    (other,) = trainer.workers.workers
    for parameter, shared in zip(
        trainer.model.parameters(), trainer.workers.weights.tensors, strict=True
    ):
        assert parameter.data_ptr() == shared.data_ptr()
    theirs = dict(zip(dict(trainer.model.named_parameters()), other.gradients, strict=True))
    embedding = theirs["source_embedding.weight"]
    assert embedding[:-1].any()
    assert not embedding[-1].any()


def test_replaced_weights_are_shared_again():
    trainer, twin = small_trainer(), small_trainer(threads=1)
    batches = [random_batch(31, rows=5, longest=9, seed=seed) for seed in range(3)]
    trainer.step(batches[:1])
    twin.step(batches[:1])
    for each in (trainer, twin):
        with torch.no_grad():
            for parameter in each.model.parameters():
                parameter.data = parameter.data * 0.7  # other memory
    torch.set_num_threads(2)
    report = trainer.step(batches[1:2])
    assert report.loss == pytest.approx(twin.step(batches[1:2]).loss, rel=1e-6)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", [3, 4])
def test_shares_make_up_the_batch_and_are_of_similar_size(count, seed):
    batch = random_batch(31, rows=9, longest=11, seed=seed)
    parts = split(batch, count)
    assert sum(p.target_tokens for p in parts) == batch.target_tokens
    rows = sorted(r.tolist() for p in parts for r in p.target)
    assert rows == sorted(r.tolist() for r in batch.target)
    sizes = [int((p.source_segments > 0).sum() + (p.target_segments > 0).sum()) for p in parts]
    assert max(sizes) - min(sizes) <= 11


def test_an_error_in_a_worker_is_raised_and_leaves_no_gradient():
    trainer, twin = small_trainer(), small_trainer(threads=1)
    torch.set_num_threads(2)
    for place in range(4):
        # A result of the first batch that stays in the pipe must not be taken for that of the second.
        good, bad = (random_batch(31, rows=4, longest=5, seed=seed) for seed in (4 + place, 3))
        bad.source[place, 0] = 31  # no such subword, in either share
        with pytest.raises(IndexError):
            trainer.step([bad])
        assert all(p.grad is None for p in trainer.model.parameters())
        sums = [each.workers.accumulate([good], good.target_tokens) for each in (trainer, twin)]
        torch.testing.assert_close(*sums, rtol=1e-6, atol=0)
        trainer.model.zero_grad(set_to_none=True)


def test_workers_use_the_present_state_of_the_model():
    trainer, twin = small_trainer(dropout=0.3), small_trainer(dropout=0.3, threads=1)
    batch = random_batch(31, rows=6, longest=9, seed=4)
    torch.set_num_threads(2)
    trainer.step([batch])
    for each in (trainer, twin):
        each.model.encoder.layers[0].feed_forward.inner.weight.requires_grad_(False)
        each.model.load_state_dict(twin.model.state_dict())
        for module in each.model.modules():
            if hasattr(module, "p"):
                module.p = 0.0
    sums = trainer.workers.accumulate([batch], 7)
    torch.testing.assert_close(sums, twin.workers.accumulate([batch], 7), rtol=1e-6, atol=0)
    for ours, theirs in zip(trainer.model.parameters(), twin.model.parameters(), strict=True):
        assert (ours.grad is None) == (theirs.grad is None) == (not ours.requires_grad)
        if ours.grad is not None:
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)


def test_a_killed_worker_is_replaced_and_the_step_repeated():
    trainer, twin = small_trainer(dropout=0.3), small_trainer(dropout=0.3)
    batches = [random_batch(31, rows=6, longest=9, seed=seed) for seed in range(4)]
    for step, batch in enumerate(batches):
        for each in (trainer, twin):
            torch.manual_seed(step)
            if each is trainer and step == 2:
                each.workers.workers[0]._process.kill()
                with pytest.warns(UserWarning, match=r"\(SIGKILL\); started again"):
                    report = each.step([batch])
            else:
                report = each.step([batch])
            each.seen = report, torch.get_rng_state()
        assert trainer.seen[0] == twin.seen[0]
        assert torch.equal(trainer.seen[1], twin.seen[1])
    for ours, theirs in zip(trainer.model.parameters(), twin.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:a worker process")
def test_a_worker_that_is_killed_twice_raises_an_error(monkeypatch):
    trainer = small_trainer(dropout=0.3)
    batch = random_batch(31, rows=6, longest=9, seed=4)
    trainer.step([batch])
    before = torch.get_rng_state()
    with monkeypatch.context() as patch:
        patch.setattr(worker_module, "START", "import os; os.kill(os.getpid(), 9); {path}, {files}")
        trainer.workers.workers[0]._process.kill()
        with pytest.raises(worker_module.WorkerEnded, match=r"\(SIGKILL\), and again .*threads 1"):
            trainer.step([batch])
    assert torch.equal(torch.get_rng_state(), before)
    assert all(p.grad is None for p in trainer.model.parameters())
    trainer.step([batch])  # with memory available again, training continues


def test_a_worker_ends_with_its_trainer():
    trainer = small_trainer()
    trainer.step([random_batch(31, rows=6, longest=9, seed=4)])
    process = trainer.workers.workers[0]._process
    assert process.poll() is None
    del trainer
    gc.collect()
    assert process.poll() is not None


@pytest.mark.parametrize("error", [OSError("no process"), AttributeError("no memfd_create")])
def test_without_workers_one_process_computes_the_same(error, monkeypatch):
    def fail(*_args):
        raise error

    monkeypatch.setattr(os, "memfd_create", fail)
    batch = random_batch(31, rows=6, longest=9, seed=4)
    trainer, twin = small_trainer(), small_trainer(threads=1)
    torch.set_num_threads(2)
    with pytest.warns(UserWarning, match="slower, because .*: no"):
        report = trainer.step([batch])
    assert report.loss == pytest.approx(twin.step([batch]).loss, rel=1e-6)


def test_a_model_that_cannot_be_pickled_is_trained_in_one_process():
    trainer = small_trainer()

    class Local(torch.nn.Identity):
        pass

    trainer.model.encoder.add_module("extra", Local())
    with pytest.warns(UserWarning, match="slower"):
        trainer.step([random_batch(31, rows=6, longest=9, seed=4)])
