"""Plain functions that torch compiles into one kernel for a GPU."""

import functools
import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

from headway.errors import is_out_of_memory

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


def can_fuse(x: Tensor) -> bool:
    """Whether `fuse` gains anything: x is on a GPU, and Triton is there, which writes the kernels."""
    return x.is_cuda and _has_triton()


@functools.cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


@functools.cache
def fuse(
    function: Callable[Arguments, Result], plain: Callable[Arguments, Result] | None = None
) -> Callable[Arguments, Result]:
    """Return a function without loops or branches as one kernel, or few, for all shapes.

    It is compiled at its first call, which takes seconds, and once more for each type of its arguments.
    Compiling needs a C compiler, and a GPU that Triton knows. Where it fails, a warning says why, and the
    plain function is called from then on.

    Args:
        function: It changes nothing before its last operation.
        plain: Computes the same; None: the function itself.
    """
    compiled, plain = torch.compile(function, dynamic=True), plain or function
    is_compilable = True

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        nonlocal is_compilable
        if is_compilable:
            try:
                return compiled(*args, **kwargs)
            except Exception as error:  # of torch, Triton or a compiler
                if is_out_of_memory(error):
                    raise
                is_compilable = False
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                logger.warning("training is slower: torch cannot compile a kernel: %s", reason)
        return plain(*args, **kwargs)

    return call
