"""Tensors in memory that several processes share."""

import mmap
import os
import weakref
from collections.abc import Iterable
from itertools import accumulate

import torch

LINE = 16  # floats of a cache line; every shared tensor begins at one


class SharedTensors:
    """Float32 tensors in memory that other processes can map too.

    Args:
        shapes: The shapes of the tensors.
        file: An open file of another process's `SharedTensors` of the same shapes; None: new
            memory, filled with zeros.
    """

    def __init__(self, shapes: Iterable[torch.Size], file: int | None = None) -> None:
        shapes = list(shapes)
        starts = [0, *accumulate(-(-shape.numel() // LINE) * LINE for shape in shapes)]
        self.nbytes = 4 * max(starts[-1], LINE)
        self.file = os.memfd_create("headway") if file is None else file
        weakref.finalize(self, os.close, self.file)
        if file is None:
            os.ftruncate(self.file, self.nbytes)
        self.flat = torch.frombuffer(mmap.mmap(self.file, self.nbytes), dtype=torch.float32)
        self.tensors = [
            self.flat[start : start + shape.numel()].view(shape)
            for start, shape in zip(starts, shapes, strict=False)
        ]
