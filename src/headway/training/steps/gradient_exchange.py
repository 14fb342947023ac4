"""The sum of the ranks' gradients, in the order of `headway.training.steps.gradient_tree`.

Each rank sums a slice of all gradients, and then every rank gets the whole sum. Ranks of one machine
exchange gradients through memory that they share; other ranks send them.
"""

import mmap
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

import torch
from torch import Tensor

from headway.torch_private import copy_each_
from headway.training import parallel
from headway.training.steps.gradient_tree import (
    Gradient,
    Subtree,
    add_subtrees,
    divide_share,
    share_of,
)

Parts = Sequence[tuple[Subtree, Gradient]]
LINE = 16  # numbers of a cache line, which only one rank writes


def connect(
    shapes: Sequence[torch.Size], count: int, device: torch.device
) -> Callable[[Parts, int], Gradient]:
    """Return the fastest function by which the ranks can sum their gradients.

    It takes the gradients of this rank's subtrees (`divide_share`), in order, and the number of
    micro-batches of the step, of all ranks; and returns the gradient of the step, which is valid
    until the next call and is read only.

    Args:
        shapes: The shapes of a gradient's tensors.
        count: Most micro-batches of a step.
        device: The device of the gradients.
    """
    if parallel.world_size() == 1:
        return lambda parts, count: add_subtrees(parts)
    layout = _Layout(shapes, count)
    memory = _map_shared(layout.nbytes) if device.type == "cpu" else None
    return (_Messages(layout, device) if memory is None else _SharedMemory(layout, memory)).sum


class _Layout:
    """Where the numbers of a gradient lie in a row that is divided into a slice for each rank.

    Attributes:
        slots: Most gradients that a rank holds at once.
        slice: Numbers of a slice, whole cache lines.
        width: Numbers of a row.
        nbytes: Of shared memory: the slots of all ranks, and the sum.
    """

    def __init__(self, shapes: Sequence[torch.Size], count: int) -> None:
        self.shapes, self.ranks = shapes, parallel.world_size()
        self.slots = max(
            len(subtrees)
            for most in range(1, count + 1)
            for subtrees in _all_subtrees(self.ranks, most)
        )
        lines = -(-sum(shape.numel() for shape in shapes) // LINE)
        self.slice = -(-lines // self.ranks) * LINE
        self.width = self.slice * self.ranks
        self.nbytes = 4 * self.width * (self.ranks * self.slots + 1)


class _SharedMemory:
    """Ranks of one machine write their gradients into memory that all of them map."""

    def __init__(self, layout: _Layout, memory: mmap.mmap) -> None:
        self.layout, ranks = layout, layout.ranks
        numbers = torch.frombuffer(memory, dtype=torch.float32).view(-1, layout.width)
        self.gradients = numbers[:-1].view(ranks, layout.slots, layout.width)
        self.own = [_views(flat, layout.shapes) for flat in self.gradients[parallel.rank()]]
        start = parallel.rank() * layout.slice
        self.slice = slice(start, start + layout.slice)
        self.total = numbers[-1]
        self.total_views = _views(self.total, layout.shapes)

    def sum(self, parts: Parts, count: int) -> Gradient:
        for (_, gradient), shared in zip(parts, self.own, strict=False):
            copy_each_(shared, gradient)
        parallel.wait()  # from here on, no rank reads the sum of the step before
        subtrees = [
            (subtree, [flat[self.slice]])
            for subtrees, gradients in zip(
                _all_subtrees(self.layout.ranks, count), self.gradients, strict=True
            )
            for subtree, flat in zip(subtrees, gradients, strict=False)
        ]
        self.total[self.slice] = add_subtrees(subtrees)[0]
        parallel.wait()
        return self.total_views


class _Messages:
    """Ranks of several machines, or of GPUs, send each other slices of their gradients."""

    def __init__(self, layout: _Layout, device: torch.device) -> None:
        self.layout = layout
        self.gradients = torch.zeros(layout.slots, layout.width, device=device)
        self.own = [_views(flat, layout.shapes) for flat in self.gradients]
        self.received = torch.empty(layout.ranks, layout.slots, layout.slice, device=device)
        self.total = torch.empty(layout.width, device=device)
        self.total_views = _views(self.total, layout.shapes)

    def sum(self, parts: Parts, count: int) -> Gradient:
        for (_, gradient), views in zip(parts, self.own, strict=False):
            copy_each_(views, gradient)
        rank = parallel.rank()
        others = [other for other in range(self.layout.ranks) if other != rank]
        slices = self.gradients.view(self.layout.slots, self.layout.ranks, self.layout.slice)
        subtrees = _all_subtrees(self.layout.ranks, count)
        parallel.exchange(
            [(other, part[other]) for other in others for part in slices[: len(parts)]],
            [(o, part) for o in others for part in self.received[o, : len(subtrees[o])]],
        )
        gradients = [
            (subtree, [part])
            for other, own in enumerate(subtrees)
            for subtree, part in zip(
                own, slices[:, rank] if other == rank else self.received[other], strict=False
            )
        ]
        total = self.total.view(self.layout.ranks, self.layout.slice)
        total[rank] = add_subtrees(gradients)[0]
        parallel.exchange(
            [(other, total[rank]) for other in others], [(other, total[other]) for other in others]
        )
        return self.total_views


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


def _map_shared(size: int) -> mmap.mmap | None:
    """Map the same memory in all ranks, if they run on one Linux machine, as one user.

    Returns:
        The memory, filled with zeros; None if one of the ranks cannot map it.
    """
    memory, file, token = None, -1, secrets.randbelow(1 << 50)
    with suppress(AttributeError, OSError):  # not Linux
        if parallel.rank() == 0:
            file = os.memfd_create("headway-gradients")
            os.ftruncate(file, size)
            memory = mmap.mmap(file, size)
            memory[:8] = token.to_bytes(8, "little")
    process, number, token = parallel.sum_counts(
        [0, 0, 0] if parallel.rank() else [os.getpid(), file, token]
    )
    if parallel.rank():
        # The process may be that of another machine: only the right memory holds the token.
        with (
            suppress(OSError, ValueError),
            Path(f"/proc/{process}/fd/{number}").open("r+b") as theirs,
        ):
            memory = mmap.mmap(theirs.fileno(), size)
            if memory[:8] != token.to_bytes(8, "little"):
                memory = None
    (is_missing,) = parallel.maximum([memory is None])
    if parallel.rank() == 0 and memory is not None:
        memory[:8] = bytes(8)
    if file >= 0:
        os.close(file)
    return None if is_missing else memory
