"""Dropout whose mask is a function of a seed, so that no mask is kept for the backward pass.

torch's own dropout takes 32 bits of a Mersenne Twister for each element, a tenth of a training step
on a CPU. Here 32 mixed bits of (seed, counter) serve two elements. Paper: section 5.4.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from headway.kernels.torch_private import is_traced
from headway.kernels.training_library import TYPES, supporting_library, training_library

WORD = 0xFFFFFFFF


class Mask(NamedTuple):
    """The seed of a dropout mask.

    Attributes:
        low: 32 bits of the seed.
        high: The other 32.
        threshold: 65,536 p, rounded; an element is dropped if its 16 random bits are below it.
    """

    low: int
    high: int
    threshold: int

    @classmethod
    def draw(cls, p: float) -> "Mask":
        """Take a seed from torch's generator, which a resumed run restores."""
        if not 0 <= p < 1:
            raise ValueError(f"dropout = {p} must be at least 0 and below 1")
        threshold = min(round(p * 65536), 65535)  # 65,536 would make the factor 1 / 0
        if threshold == 0:
            return cls(0, 0, 0)
        seed = int(torch.empty((), dtype=torch.int64).random_())
        return cls(seed & WORD, seed >> 32, threshold)

    def factors(self, rows: int, width: int) -> Tensor:
        """Draw the mask in plain torch: 0 or 1 / (1 - p) for each element, [rows, width]."""
        if self.threshold == 0:
            return torch.ones(rows, width)
        half = -(-width // 2)
        bits = _mixed(self, torch.arange(rows * half).view(rows, half))
        lanes = torch.cat((bits & 0xFFFF, bits >> 16), 1)[:, :width]
        return (lanes >= self.threshold) * (65536 / (65536 - self.threshold))


def _mixed(mask: Mask, counter: Tensor) -> Tensor:
    """`random_bits` of native/numbers.h in int64 arithmetic, whose low 32 bits are the same."""
    x = (counter & WORD) ^ mask.low
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & WORD
    x = ((x ^ (x >> 15) ^ mask.high) * 0x846CA68B) & WORD
    x = ((x ^ (x >> 16)) * 0x9E3779B1) & WORD
    return x ^ (x >> 15)


def dropout(x: Tensor, p: float) -> Tensor:
    """Set each element of [..., D] to zero with probability p, and divide the others by 1 - p."""
    if p == 0:
        return x
    if x.device.type != "cpu" or is_traced(x):
        return F.dropout(x, p)
    return apply_mask(x, Mask.draw(p))


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
