"""The order of the text, and the share of each group: every pair once in an epoch, and the same after a resume."""

import numpy as np
import pytest
import torch

from headway.config import TrainingConfig
from headway.text.prepared import PreparedData
from headway.training.steps import feed as feed_module
from headway.training.steps.feed import Feed, Mixture


@pytest.fixture
def data(uninterrupted_run):
    return PreparedData.open(uninterrupted_run / "data")


def rows_of(feed, steps):
    return [
        [row for batch in feed.next().batches for row in batch.pair_indices.tolist()]
        for _ in range(steps)
    ]


@pytest.fixture(params=[1000, 90])
def blocks(request, monkeypatch):
    """One block, or several of which the last is shorter."""
    monkeypatch.setattr(feed_module, "BLOCK", request.param)


def test_an_epoch_has_every_pair_once_and_the_next_another_order(data, blocks):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=50)
    feed = Feed(data, config, torch.device("cpu"))
    epochs = [[], [], []]
    while len(epochs[2]) < 2:
        (step,) = rows_of(feed, 1)
        epochs[feed.position.epoch].append(step)
    for epoch in epochs[:2]:
        assert sorted(row for step in epoch for row in step) == list(range(len(data.train)))
    assert epochs[0] != epochs[1]
    # Only the last step of an epoch may have fewer micro-batches than three.
    again = Feed(data, config, torch.device("cpu"))
    steps = [again.next() for _ in epochs[0]]
    assert {step.count for step in steps[:-1]} == {3}
    for side in ("source", "target"):
        assert max(sum(getattr(b, side).numel() for b in step.batches) for step in steps) <= 140


def test_pairs_of_a_block_are_read_together(data, monkeypatch):
    monkeypatch.setattr(feed_module, "BLOCK", 90)
    config = TrainingConfig(batch_tokens=70, micro_batch_tokens=70)
    feed = Feed(data, config, torch.device("cpu"))
    mixture = Mixture([len(data.train)], 1.0, 90, config.seed)
    for epoch in (0, 1, 2):
        for block in range(mixture.blocks):
            left = set(mixture.rows(epoch, block).tolist())
            while left:  # a block is read in one go
                (step,) = rows_of(feed, 1)
                assert left >= set(step)
                left -= set(step)
    first, second = (set(mixture.rows(epoch, 0).tolist()) for epoch in (0, 1))
    assert first != second, "the blocks of each epoch are others"


SIZES = (1000, 130, 10)


def count(mixture, epoch):
    """Return how often each pair occurs in an epoch."""
    rows = np.concatenate([mixture.rows(epoch, block) for block in range(mixture.blocks)])
    return np.bincount(rows, minlength=sum(SIZES))


@pytest.mark.parametrize(
    ("sizes", "block"),
    [((3, 2), 4), ((700_000, 348_577), 1 << 20), ((100_000,) * 10, 1 << 19), ((1, 1, 1), 3)],
)
def test_no_block_is_empty_and_all_are_of_one_size(sizes, block):
    mixture = Mixture(sizes, 1.0, block, seed=1)
    found = [len(mixture.rows(0, number)) for number in range(mixture.blocks)]
    assert sum(found) == sum(sizes)
    assert min(found) > 0
    assert max(found) - min(found) <= max(0.03 * block, len(sizes))


def test_a_block_has_all_domains_of_a_corpus_that_is_larger():
    """A text that was joined of several is not learned one after the other, but read in long pieces."""
    size, domains = 4_520_000, 10
    mixture = Mixture([size], 1.0, 1 << 20, seed=1)
    assert mixture.blocks == 5
    for block in range(mixture.blocks):
        rows = mixture.rows(0, block)
        of_domain = np.bincount(rows * domains // size, minlength=domains)
        assert of_domain / len(rows) == pytest.approx(np.full(domains, 0.1), abs=0.04)
        assert (np.diff(rows) != 1).sum() < len(rows) / 1000
    assert mixture.rows(0, 0).tolist() != mixture.rows(1, 0).tolist()


@pytest.mark.parametrize("temperature", [1.5, 5.0, 1e9])
def test_small_groups_are_repeated_as_the_temperature_says(temperature):
    mixture = Mixture(SIZES, temperature, 10_000, seed=3)
    found = np.split(count(mixture, 0), np.cumsum(SIZES)[:-1])
    weights = np.array([size ** (1 / temperature) for size in SIZES])
    totals = np.array([each.sum() for each in found])
    assert totals / totals.sum() == pytest.approx(weights / weights.sum(), abs=2e-3)
    assert set(found[0]) == {1}
    for each in found:  # the pairs of a group differ by one at most
        assert 1 <= each.min() <= each.max() <= each.min() + 1
    assert (count(mixture, 0) != count(mixture, 1)).any()
    again = Mixture(SIZES, temperature, 10_000, seed=3)
    assert (count(mixture, 1) == count(again, 1)).all()


def test_a_block_has_the_same_share_of_every_group():
    mixture = Mixture((1000, 500, 100), 2.0, 160, seed=3)
    for number in range(mixture.blocks):
        sizes = [sum(map(len, part)) for part in mixture.parts(0, number)]
        expected = [size / mixture.blocks for size in (1000, 500, 100)]
        assert sizes == pytest.approx(expected, abs=2)
