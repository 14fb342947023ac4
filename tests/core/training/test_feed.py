"""The order of the data: every pair once in an epoch, and the same from any position."""

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
    counts = [again.next().count for _ in epochs[0]]
    assert set(counts[:-1]) == {3}


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


def test_a_step_is_within_its_tokens_on_both_sides(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=50)
    feed = Feed(data, config, torch.device("cpu"))
    steps = [feed.next().batches for _ in range(10)]
    assert {len(batches) for batches in steps} == {3}
    assert max(sum(b.target.numel() for b in batches) for batches in steps) <= 140
    assert max(sum(b.source.numel() for b in batches) for batches in steps) <= 140


def test_the_feed_continues_from_a_position(data, blocks):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=70)
    whole = Feed(data, config, torch.device("cpu"))
    expected = rows_of(whole, 40)
    first = Feed(data, config, torch.device("cpu"))
    rows_of(first, 23)
    second = Feed(data, config, torch.device("cpu"), first.position)
    assert rows_of(second, 17) == expected[23:]
