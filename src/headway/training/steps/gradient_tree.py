"""The gradient of a step, summed along a fixed tree of its micro-batches.

The last bits of a sum depend on the order of the additions. Here the order depends on the number of
micro-batches alone: neighbors are added first, then the sums of neighbors, and so on. Which process
computes which micro-batch changes no bit.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor

from headway.torch_private import add_each_

Gradient = list[Tensor]  # in the same order everywhere; the sums are made in place


class Subtree(NamedTuple):
    """A complete subtree: ``size`` micro-batches from ``first`` on.

    The size is a power of two that divides ``first``.
    """

    first: int
    size: int


def share_of(rank: int, ranks: int, count: int) -> range:
    """Return the micro-batches of a rank: neighbors, and nearly as many as those of any other rank."""
    return range(rank * count // ranks, (rank + 1) * count // ranks)


def turns_of(rank: int, ranks: int, count: int) -> list[int]:
    """Return the micro-batch of a rank in each round of a step, in which every rank computes one.

    A rank that would have none in the last round computes the last micro-batch again.
    """
    return [min(number, count - 1) for number in range(rank, count + -count % ranks, ranks)]


def divide_share(share: range) -> list[Subtree]:
    """Divide neighboring micro-batches into the largest complete subtrees."""
    subtrees = []
    first = share.start
    while first < share.stop:
        size = first & -first or 1 << share.stop.bit_length()  # the largest that divides `first`
        while first + size > share.stop:
            size //= 2
        subtrees.append(Subtree(first, size))
        first += size
    return subtrees


def add_up(subtree: Subtree, compute: Callable[[int], Gradient]) -> Gradient:
    """Compute and sum the gradients of a subtree's micro-batches, one after the other.

    As many gradients exist at once as the tree is high, and one more.

    Args:
        subtree: The micro-batches.
        compute: Returns the gradient of a micro-batch, by its number in the step.
    """
    if subtree.size == 1:
        return compute(subtree.first)
    half = subtree.size // 2
    total = add_up(Subtree(subtree.first, half), compute)
    return _add(total, add_up(Subtree(subtree.first + half, half), compute))


def add_subtrees(parts: Sequence[tuple[Subtree, Gradient]]) -> Gradient:
    """Sum the gradients of subtrees that follow each other, from micro-batch 0 to the last.

    Every subtree that is complete is summed first. What remains at the end of a step whose number of
    micro-batches is no power of two is added from right to left, so that a missing half of a subtree
    counts as nothing.
    """
    sums: list[tuple[Subtree, Gradient]] = []
    for subtree, gradient in parts:
        while sums and _are_halves(sums[-1][0], subtree):
            left, total = sums.pop()
            subtree, gradient = Subtree(left.first, 2 * left.size), _add(total, gradient)
        sums.append((subtree, gradient))
    while len(sums) > 1:
        _, gradient = sums.pop()
        _add(sums[-1][1], gradient)
    return sums[0][1]


def _are_halves(left: Subtree, right: Subtree) -> bool:
    """Whether two subtrees that follow each other are the halves of a subtree."""
    return left.size == right.size and left.first % (2 * left.size) == 0


def _add(total: Gradient, gradient: Gradient) -> Gradient:
    add_each_(total, gradient)
    return total
