"""Plain functions that torch compiles into one kernel for a GPU."""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def can_fuse(x: Tensor) -> bool:
    """Whether `fuse` gains anything: x is on a GPU, and Triton is there, which writes the kernels."""
    return x.is_cuda and find_spec("triton") is not None


@functools.cache
def fuse(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return a function without loops or branches as one kernel, or few, for all shapes.

    It is compiled at its first call, which takes seconds, and once more for each type of its arguments.
    """
    return torch.compile(function, dynamic=True)
