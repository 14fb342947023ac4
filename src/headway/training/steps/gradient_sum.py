"""The gradient of a step, summed along a fixed tree of its micro-batches, over all ranks.

The last bits of a sum depend on the order of the additions. Here the order depends on the number of
micro-batches alone: neighbors are added first, then the sums of neighbors, and so on. Which process
computes which micro-batch changes no bit.

Each rank sums a slice of all gradients, and then every rank gets the whole sum. Ranks of one machine
exchange gradients through memory that they share; other ranks send them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from headway.files import name_machine
from headway.torch_private import for_each
from headway.training import parallel

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


def divide_share(share: range) -> list[Subtree]:
    """Divide neighboring micro-batches into the largest complete subtrees."""
    return [subtree for subtree, _ in add_halves((Subtree(number, 1), []) for number in share)]


def add_halves(
    parts: Iterable[tuple[Subtree, Gradient]],
) -> list[tuple[Subtree, Gradient]]:
    """Sum the gradients of subtrees that follow each other where they are the halves of a larger subtree.

    If the gradients are computed one after the other, as many exist at once as the tree is high, and one more.
    """
    sums: list[tuple[Subtree, Gradient]] = []
    for subtree, gradient in parts:
        while sums and _are_halves(sums[-1][0], subtree):
            left, total = sums.pop()
            subtree, gradient = Subtree(left.first, 2 * left.size), _add(total, gradient)
        sums.append((subtree, gradient))
    return sums


def add_subtrees(parts: Iterable[tuple[Subtree, Gradient]]) -> Gradient:
    """Sum the gradients of subtrees that follow each other, from micro-batch 0 to the last.

    Every subtree that is complete is summed first. What remains at the end of a step whose number of
    micro-batches is no power of two is added from right to left, so that a missing half of a subtree
    counts as nothing.
    """
    sums = add_halves(parts)
    while len(sums) > 1:
        _, gradient = sums.pop()
        _add(sums[-1][1], gradient)
    return sums[0][1]


def _are_halves(left: Subtree, right: Subtree) -> bool:
    """Whether two subtrees that follow each other are the halves of a subtree."""
    return left.size == right.size and left.first % (2 * left.size) == 0


def _add(total: Gradient, gradient: Gradient) -> Gradient:
    if gradient:  # else only the subtrees are asked for
        for_each("add_", total, gradient)
    return total


Parts = Sequence[tuple[Subtree, Gradient]]
LINE = 16  # numbers of a cache line, which only one rank writes


def connect(
    shapes: Sequence[torch.Size], count: int, device: torch.device, *, may_share: bool = True
) -> Callable[[Parts, int], Gradient]:
    """Return the fastest function by which the ranks can sum their gradients.

    It takes the gradients of this rank's subtrees (`divide_share`), in order, and the number of
    micro-batches of the step, of all ranks; and returns the gradient of the step, which is valid
    until the next call and is read only.

    Args:
        shapes: The shapes of a gradient's tensors.
        count: Most micro-batches of a step.
        device: The device of the gradients.
        may_share: Whether ranks of one machine use memory that they share.
    """
    if parallel.world_size() == 1:
        return lambda parts, count: add_subtrees(parts)
    return _Exchange(shapes, count, device, may_share).sum


class _Exchange:
    """Each rank sums a slice of all gradients, which lie in rows of memory that ranks share, or are sent.

    Attributes:
        slots: Most gradients that a rank holds at once.
        slice: Numbers of a slice, whole cache lines.
        own: The rows of this rank's gradients, [slots, width].
        others: With shared memory the rows of all ranks, [ranks, slots, ranks, slice]; otherwise the
            slices that this rank receives, [ranks, slots, slice].
        total: The sum, [ranks, slice].
    """

    def __init__(
        self, shapes: Sequence[torch.Size], count: int, device: torch.device, may_share: bool
    ) -> None:
        self.ranks, self.rank = parallel.world_size(), parallel.rank()
        self.slots = max(
            len(subtrees)
            for most in range(1, count + 1)
            for subtrees in _all_subtrees(self.ranks, most)
        )
        lines = -(-sum(shape.numel() for shape in shapes) // LINE)
        self.slice = -(-lines // self.ranks) * LINE
        width = self.slice * self.ranks
        size = width * (self.ranks * self.slots + 1)
        memory = _map_shared(size) if may_share and device.type == "cpu" else None
        self.is_shared = memory is not None
        if memory is not None:
            rows = memory.view(-1, self.ranks, self.slice)
            self.total = rows[-1]
            self.others = rows[:-1].view(self.ranks, self.slots, self.ranks, self.slice)
            self.own = self.others[self.rank]
        else:
            self.total = torch.empty(self.ranks, self.slice, device=device)
            self.others = torch.empty(self.ranks, self.slots, self.slice, device=device)
            self.own = torch.zeros(self.slots, self.ranks, self.slice, device=device)
        self.own_views = [_views(row.flatten(), shapes) for row in self.own]
        self.total_views = _views(self.total.flatten(), shapes)

    def sum(self, parts: Parts, count: int) -> Gradient:
        """Return the gradient of a step; see `connect`."""
        for (_, gradient), views in zip(parts, self.own_views, strict=False):
            for_each("copy_", views, gradient)
        subtrees = _all_subtrees(self.ranks, count)
        slices = self._collect(len(parts), subtrees)
        self.total[self.rank] = add_subtrees(
            [
                (subtree, [part])
                for own, found in zip(subtrees, slices, strict=True)
                for subtree, part in zip(own, found, strict=False)
            ]
        )[0]
        self._spread()
        return self.total_views

    def _collect(self, count: int, subtrees: list[list[Subtree]]) -> list[Tensor]:
        """Return this rank's slice of the gradients of all ranks, [slots, slice] each."""
        if self.is_shared:
            parallel.wait()  # from here on, no rank reads the sum of the step before
            return list(self.others[:, :, self.rank])
        others = [other for other in range(self.ranks) if other != self.rank]
        parallel.exchange(
            [(other, row[other]) for other in others for row in self.own[:count]],
            [(o, row) for o in others for row in self.others[o, : len(subtrees[o])]],
        )
        return [self.own[:, n] if n == self.rank else self.others[n] for n in range(self.ranks)]

    def _spread(self) -> None:
        """Give every rank the sums of all slices."""
        if self.is_shared:
            parallel.wait()
            return
        others = [other for other in range(self.ranks) if other != self.rank]
        parallel.exchange(
            [(other, self.total[self.rank]) for other in others],
            [(other, self.total[other]) for other in others],
        )


@cache
def _all_subtrees(ranks: int, count: int) -> list[list[Subtree]]:
    """Return the subtrees of each rank in a step of ``count`` micro-batches."""
    return [divide_share(share_of(rank, ranks, count)) for rank in range(ranks)]


def _views(flat: Tensor, shapes: Sequence[torch.Size]) -> Gradient:
    """Return the tensors that lie one after the other in a flat one."""
    starts = accumulate((shape.numel() for shape in shapes), initial=0)
    return [
        flat[start : start + shape.numel()].view(shape)
        for start, shape in zip(starts, shapes, strict=False)
    ]


def _map_shared(count: int) -> Tensor | None:
    """Map the same numbers in all ranks, if they run on one Linux machine, as one user.

    Returns:
        Zeros, [count]; None if one of the ranks cannot map them.
    """
    if parallel.find_differences({"machine": name_machine()}):
        return None
    memory, file = None, -1
    if parallel.rank() == 0 and hasattr(os, "memfd_create"):  # Linux
        file = os.memfd_create("headway-gradients")
        os.ftruncate(file, 4 * count)
    own = [0, 0] if parallel.rank() else [os.getpid(), file]
    process, number = parallel.sum_counts(own)
    with suppress(RuntimeError):  # there is none, or that of another user
        memory = torch.from_file(f"/proc/{process}/fd/{number}", shared=True, size=count)
    (is_missing,) = parallel.maximum([memory is None])
    if file >= 0:
        os.close(file)
    return None if is_missing else memory
