"""The order of the data: every pair once in an epoch, and the same from any position."""

import pytest
import torch

from headway.config import TrainingConfig
from headway.text.prepared import PreparedData
from headway.training.feed import Feed


@pytest.fixture
def data(uninterrupted_run):
    return PreparedData.open(uninterrupted_run / "data")


def rows_of(feed, steps):
    return [
        [row for batch in feed.next().batches for row in batch.pair_indices.tolist()]
        for _ in range(steps)
    ]


def test_an_epoch_has_every_pair_once_and_the_next_another_order(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=50)
    feed = Feed(data, config, torch.device("cpu"))
    steps = -(-len(feed.plan) // 3)  # three parts a step
    epochs = [rows_of(feed, steps), rows_of(feed, steps)]
    assert feed.epoch == 1
    for epoch in epochs:
        assert sorted(row for step in epoch for row in step) == list(range(len(data.train)))
    assert epochs[0] != epochs[1]


def test_a_step_is_within_its_tokens_on_both_sides(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=50)
    feed = Feed(data, config, torch.device("cpu"))
    steps = [feed.next().batches for _ in range(10)]
    assert {len(batches) for batches in steps} == {3}
    assert max(sum(b.target.numel() for b in batches) for batches in steps) <= 140
    assert max(sum(b.source.numel() for b in batches) for batches in steps) <= 140


def test_the_feed_continues_from_a_position(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=70)
    whole = Feed(data, config, torch.device("cpu"))
    expected = rows_of(whole, 40)
    first = Feed(data, config, torch.device("cpu"))
    rows_of(first, 23)
    second = Feed(data, config, torch.device("cpu"), first.epoch, first.index)
    assert rows_of(second, 17) == expected[23:]
