"""Dropout whose mask is a function of a seed, so that no mask is kept for the backward pass.

torch's own dropout takes 32 bits of a Mersenne Twister for each element, a tenth of a training step
on a CPU. Here 32 mixed bits of (seed, counter) serve two elements. Paper: section 5.4.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from headway.kernels.device_dropout import apply_mask_on_device
from headway.kernels.dropout_mask import Mask
from headway.kernels.training_library import TYPES, supporting_library, training_library
from headway.torch_private import is_traced


def dropout(x: Tensor, p: float) -> Tensor:
    """Set each element of [..., D] to zero with probability p, and divide the others by 1 - p."""
    if p == 0:
        return x
    if is_traced(x):
        return F.dropout(x, p)
    apply = apply_mask if x.device.type == "cpu" else apply_mask_on_device
    return apply(x, Mask.draw(p))


class Dropout(nn.Module):
    """`dropout` while training.

    Args:
        p: Probability that an element is set to zero.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to [..., D]."""
        return dropout(x, self.p if self.training else 0.0)


def apply_mask(x: Tensor, mask: Mask) -> Tensor:
    """Multiply [..., D] with a mask's factors."""
    if mask.threshold == 0 or x.numel() == 0:
        return x
    if supporting_library(x) is None:
        factors = mask.factors(x.numel() // x.size(-1), x.size(-1))
        return x * factors.view_as(x).to(x)
    return _Dropout.apply(x, mask)  # type: ignore[no-untyped-call]


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Mask) -> Tensor:
        ctx.mask = mask
        return _run_native(x, mask)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _run_native(grads[0], ctx.mask), None


def _run_native(x: Tensor, mask: Mask) -> Tensor:
    library = training_library()
    assert library is not None
    x = x.contiguous()
    y = torch.empty_like(x)
    rows = x.numel() // x.size(-1)
    library.dropout(x.data_ptr(), y.data_ptr(), rows, x.size(-1), *mask, TYPES[x.dtype])
    return y
