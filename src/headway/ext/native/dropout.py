"""Dropout whose mask is a function of a seed, so that no mask is kept for the backward pass.

torch's own dropout takes 32 bits of a Mersenne Twister for each element, a tenth of a training step
on a CPU. Here 32 mixed bits of (seed, counter) serve two elements. Paper: section 5.4.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.ext.native.training_library import TYPES, training_functions
from headway.model import Mask


class NativeDropout(torch.autograd.Function):
    """Multiplies [..., D], which is not empty, with the factors of a mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Mask) -> Tensor:
        """Compute the result, and keep what the gradient needs."""
        ctx.mask = mask
        return _run_native(x, mask)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        """Compute the gradients of the arguments."""
        return _run_native(grads[0], ctx.mask), None


def _run_native(x: Tensor, mask: Mask) -> Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    rows = x.numel() // x.size(-1)
    training_functions().dropout(x, y, rows, x.size(-1), *mask, TYPES[x.dtype])
    return y
