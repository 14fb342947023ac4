"""Dropout on a GPU with the masks of a CPU: the same seed drops the same elements.

The mask is a dozen operations on integers, which torch compiles into one kernel with the product. The
backward pass computes the mask again. Paper: section 5.4.

Shapes: N rows, D width.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.kernels.dropout_mask import Mask, mix_bits
from headway.kernels.fusion import can_fuse, fuse
from headway.kernels.packing import move


def apply_mask_on_device(x: Tensor, mask: Mask) -> Tensor:
    """Multiply [..., D] with a mask's factors, on the device of x."""
    if mask.threshold == 0 or x.numel() == 0:
        return x
    seed = move(torch.tensor([mask.low, mask.high]), x.device)
    return _DeviceDropout.apply(x, seed, mask.threshold)  # type: ignore[no-untyped-call]


class _DeviceDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, seed: Tensor, threshold: int) -> Tensor:
        ctx.save_for_backward(seed)
        ctx.threshold = threshold
        return _multiply(x, seed, threshold)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (seed,) = ctx.saved_tensors
        return _multiply(grads[0], seed, ctx.threshold), None, None


def _multiply(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    multiply = fuse(plain_product) if can_fuse(x) else plain_product
    return multiply(x.detach().reshape(-1, x.size(-1)), seed, threshold).view_as(x)


def plain_product(x_ND: Tensor, seed: Tensor, threshold: int) -> Tensor:
    """Multiply elements with the factors of a mask, whose seed is a tensor of two numbers."""
    rows, width = x_ND.shape
    half = (width + 1) // 2
    row_N1 = torch.arange(rows, device=x_ND.device)[:, None]
    column_D = torch.arange(width, device=x_ND.device)
    is_high_D = column_D >= half  # the second half takes the upper 16 bits
    counter_ND = row_N1 * half + column_D - torch.where(is_high_D, half, 0)
    bits_ND = mix_bits(counter_ND, seed[0], seed[1])
    lanes_ND = torch.where(is_high_D, bits_ND >> 16, bits_ND & 0xFFFF)
    factors_ND = torch.where(lanes_ND >= threshold, 65536 / (65536 - threshold), 0.0)
    wide_ND = x_ND.to(torch.promote_types(x_ND.dtype, torch.float32))  # as native code multiplies
    return (wide_ND * factors_ND.float()).to(x_ND.dtype)
