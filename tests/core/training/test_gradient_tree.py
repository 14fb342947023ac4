"""The sum of a step's gradients is the same for every division among ranks, bit for bit."""

import pytest
import torch

from headway.training.steps import gradient_sum
from headway.training.steps.gradient_sum import (
    Subtree,
    add_halves,
    add_subtrees,
    divide_share,
    share_of,
)


def gradients(count):
    """Return numbers of very different sizes, whose sum depends on the order."""
    torch.manual_seed(count)
    return [torch.randn(500) * 10.0 ** torch.randint(-2, 3, (500,)) for _ in range(count)]


def pairwise(values):
    """Sum neighbors, then the sums of neighbors, and so on; the definition, written once more."""
    while len(values) > 1:
        values = [sum(values[i : i + 2][1:], values[i]) for i in range(0, len(values), 2)]
    return values[0]


def sum_of_ranks(values, ranks):
    """Sum as so many ranks do."""
    parts = [
        part
        for rank in range(ranks)
        for part in add_halves(
            (Subtree(number, 1), [values[number].clone()])
            for number in share_of(rank, ranks, len(values))
        )
    ]
    return add_subtrees(parts)[0]


@pytest.mark.parametrize("count", range(1, 20))
def test_the_sum_does_not_depend_on_the_number_of_ranks(count):
    values = gradients(count)
    expected = pairwise(values)
    for ranks in range(1, 12):
        assert torch.equal(sum_of_ranks(values, ranks), expected), ranks
    if count > 5:  # the test could not fail if all orders gave the same sum
        assert not torch.equal(sum(values[1:], values[0]), expected)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 64])
def test_ranks_have_all_micro_batches_and_nearly_equally_many(ranks, count):
    shares = [share_of(rank, ranks, count) for rank in range(ranks)]
    assert [number for share in shares for number in share] == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    for share in shares:
        subtrees = divide_share(share)
        assert [n for first, size in subtrees for n in range(first, first + size)] == list(share)
        for first, size in subtrees:
            assert size & (size - 1) == 0
            assert first % size == 0


def test_few_gradients_exist_at_once(monkeypatch):
    """Eight micro-batches need four gradients: three of the levels of the tree, and a new one."""
    alive = 0
    most = 0

    class Gradient:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

    def add(operation, totals, others):
        nonlocal alive
        alive -= len(others)

    monkeypatch.setattr(gradient_sum, "for_each", add)
    add_halves((Subtree(number, 1), [Gradient()]) for number in range(8))
    assert most == 4
