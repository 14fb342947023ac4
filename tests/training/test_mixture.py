"""Epochs of several groups: how often each pair occurs, in which block, and that this is a pure function."""

import numpy as np
import pytest
import torch

from headway.config import TextConfig, TrainingConfig
from headway.text.prepare import prepare
from headway.training.steps import feed as feed_module
from headway.training.steps.feed import Feed
from headway.training.steps.mixture import Mixture
from support.groups import files, write_languages

SIZES = (1000, 130, 10)


def count(mixture: Mixture, epoch: int) -> np.ndarray:
    """Return how often each pair occurs in an epoch."""
    rows = np.concatenate([mixture.rows(epoch, block) for block in range(mixture.blocks)])
    return np.bincount(rows, minlength=sum(SIZES))


@pytest.mark.parametrize("block", [70, 999, 1140, 10_000])
def test_at_temperature_one_every_pair_occurs_once(block: int) -> None:
    mixture = Mixture(SIZES, 1.0, block, seed=3)
    assert count(mixture, 0).tolist() == [1] * sum(SIZES)
    assert max(len(mixture.rows(0, n)) for n in range(mixture.blocks)) <= block + len(SIZES)


@pytest.mark.parametrize("size", [1, 89, 90, 91, 1000])
def test_one_group_is_cut_into_blocks_of_neighbors(size: int) -> None:
    for temperature in (1.0, 5.0):
        mixture = Mixture([size], temperature, 90, seed=3)
        blocks = [mixture.rows(0, n).tolist() for n in range(mixture.blocks)]
        assert blocks == [list(range(n, min(n + 90, size))) for n in range(0, size, 90)]


@pytest.mark.parametrize("temperature", [1.5, 5.0, 1e9])
def test_small_groups_are_repeated_as_the_temperature_says(temperature: float) -> None:
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


def test_a_block_has_the_same_share_of_every_group() -> None:
    mixture = Mixture((1000, 500, 100), 2.0, 160, seed=3)
    sizes = [[len(part) for part in mixture.parts(n)] for n in range(mixture.blocks - 1)]
    assert all(size == sizes[0] for size in sizes)
    assert sizes[0][0] == pytest.approx(10 * sizes[0][2], abs=10)


def test_the_feed_goes_on_from_a_position_with_repeated_pairs(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(feed_module, "BLOCK", 120)
    folder = write_languages(tmp_path / "texts", train=90)
    short = write_languages(tmp_path / "short", train=30)
    train = {**files(folder, "train", "en-de"), **files(short, "train", "en-fr")}
    valid = files(folder, "valid", "en-de", "en-fr")
    data = prepare(train, valid, tmp_path / "data", TextConfig(vocab_size=331))
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=70, group_temperature=4.0)

    def rows_of(feed: Feed, steps: int) -> list[list[int]]:
        return [
            [row for batch in feed.next().batches for row in batch.pair_indices.tolist()]
            for _ in range(steps)
        ]

    whole = Feed(data, config, torch.device("cpu"))
    expected = rows_of(whole, 30)
    assert whole.position.epoch > 0
    first = Feed(data, config, torch.device("cpu"))
    rows_of(first, 11)
    second = Feed(data, config, torch.device("cpu"), first.position)
    assert rows_of(second, 19) == expected[11:]
