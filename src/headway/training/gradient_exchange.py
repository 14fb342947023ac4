"""The sum of the ranks' gradients, in the order of `headway.training.gradient_tree`.

Each rank sums a slice of all gradients, and then every rank gets the whole sum. Ranks of one machine
exchange gradients through memory that they share; other ranks send them.
"""

import mmap
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from headway.training import parallel
from headway.training.gradient_tree import Block, Gradient, add_blocks, divide_share, share_of

Parts = Sequence[tuple[Block, Gradient]]
LINE = 16  # numbers of a cache line, which only one rank writes


class GradientExchange(Protocol):
    """Sums the gradients of all ranks."""

    def sum(self, parts: Parts, count: int) -> Gradient:
        """Return the gradient of a step, which is valid until the next call and is read only.

        Args:
            parts: The gradients of this rank's blocks (`divide_share`), in order.
            count: Micro-batches of the step, of all ranks.
        """


def connect(shapes: Sequence[torch.Size], count: int, device: torch.device) -> GradientExchange:
    """Return the fastest exchange that the ranks can use.

    Args:
        shapes: The shapes of a gradient's tensors.
        count: Most micro-batches of a step.
        device: The device of the gradients.
    """
    if parallel.world_size() == 1:
        return _OneRank()
    if device.type == "cpu":
        layout = _Layout(shapes, count)
        memory = _map_shared(layout.nbytes)
        if memory is not None:
            return _SharedMemory(layout, memory)
    return _Messages(shapes, device)


class _OneRank:
    def sum(self, parts: Parts, count: int) -> Gradient:
        return add_blocks(parts)


class _Layout:
    """Where the gradients lie in the shared memory: a few for each rank, and their sum."""

    def __init__(self, shapes: Sequence[torch.Size], count: int) -> None:
        self.shapes, self.ranks = shapes, parallel.world_size()
        self.slots = max(
            len(blocks) for most in range(1, count + 1) for blocks in _all_blocks(self.ranks, most)
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
            for tensor, view in zip(gradient, shared, strict=True):
                view.copy_(tensor)
        parallel.wait()  # from here on, no rank reads the sum of the step before
        blocks = [
            (block, [flat[self.slice]])
            for blocks, gradients in zip(
                _all_blocks(self.layout.ranks, count), self.gradients, strict=True
            )
            for block, flat in zip(blocks, gradients, strict=False)
        ]
        self.total[self.slice] = add_blocks(blocks)[0]
        parallel.wait()
        return self.total_views


class _Messages:
    """Ranks of several machines, or of GPUs, send each other slices of their gradients."""

    def __init__(self, shapes: Sequence[torch.Size], device: torch.device) -> None:
        self.shapes, self.device, self.ranks = shapes, device, parallel.world_size()
        self.slice = -(-sum(shape.numel() for shape in shapes) // self.ranks)

    def sum(self, parts: Parts, count: int) -> Gradient:
        sent = torch.empty(self.ranks, len(parts), self.slice, device=self.device)
        for number, (_, gradient) in enumerate(parts):
            flat = torch.cat([tensor.flatten() for tensor in gradient])
            padded = F.pad(flat, (0, self.ranks * self.slice - len(flat)))
            sent[:, number] = padded.view(self.ranks, self.slice)
        blocks = _all_blocks(self.ranks, count)
        received = torch.empty(sum(map(len, blocks)), self.slice, device=self.device)
        sizes = [len(own) * self.slice for own in blocks]
        parallel.exchange_slices(received.view(-1), sent.view(-1), sizes)
        gradients = zip((block for own in blocks for block in own), received, strict=True)
        own = add_blocks([(block, [flat]) for block, flat in gradients])[0]
        return _views(parallel.gather_slices(own), self.shapes)


def _all_blocks(ranks: int, count: int) -> list[list[Block]]:
    """Return the blocks of each rank in a step of ``count`` micro-batches."""
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
    process, number, token = map(int, parallel.broadcast([os.getpid(), file, token]))
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
