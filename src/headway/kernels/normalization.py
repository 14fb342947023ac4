"""LayerNorm(x + Dropout(y)) in one pass over memory (paper: sections 3.1 and 5.4)."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from headway.kernels.dropout import apply_mask, dropout
from headway.kernels.dropout_mask import Mask
from headway.kernels.training_library import TYPES, supporting_library, training_library
from headway.torch_private import is_traced


def add_norm(
    x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, epsilon: float, p: float
) -> Tensor:
    """Add a sub-layer's output to its input and normalize, [..., D].

    Args:
        x: The sub-layer's input.
        y: Its output; the result has its type, sums are float32.
        weight: Gain, [D].
        bias: [D].
        epsilon: Added to the variance.
        p: Dropout on y.
    """
    if y.device.type != "cpu" or is_traced(x, y):
        return plain_add_norm(x, dropout(y, p), weight, bias, epsilon).to(y.dtype)
    mask = Mask.draw(p)
    if not _fits_native(x, y, weight, bias):
        return plain_add_norm(x, apply_mask(y, mask), weight, bias, epsilon).to(y.dtype)
    return _AddNorm.apply(x, y, weight, bias, epsilon, mask)  # type: ignore[no-untyped-call]


def _fits_native(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> bool:
    return (
        supporting_library(x, y, weight, bias) is not None
        and (x.dtype, y.dtype) != (torch.bfloat16, torch.float32)
        and weight.dtype == bias.dtype == torch.float32
        and weight.shape == bias.shape == y.shape[-1:]
        and weight.is_contiguous()
        and bias.is_contiguous()
        and x.shape == y.shape
        and y.numel() > 0
    )


def plain_add_norm(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """Return LayerNorm(x + y) in plain torch; dropout has been applied to ``y``."""
    return F.layer_norm(x + y, weight.shape, weight, bias, epsilon)


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, epsilon: float, mask: Mask
    ) -> Tensor:
        library = supporting_library(x, y, weight)
        assert library is not None
        x, y = x.contiguous(), y.contiguous()
        width = y.size(-1)
        rows = y.numel() // width
        ctx.types = TYPES[x.dtype], TYPES[y.dtype]
        out, normal = torch.empty_like(y), torch.empty_like(y)
        inverse = torch.empty(rows)  # 1 / standard deviation
        library.add_norm(
            x.data_ptr(), y.data_ptr(), weight.data_ptr(), bias.data_ptr(), out.data_ptr(),
            normal.data_ptr(), inverse.data_ptr(), rows, width, epsilon, *mask, *ctx.types,
        )  # fmt: skip
        ctx.save_for_backward(normal, inverse, weight)
        ctx.mask, ctx.x_dtype = mask, x.dtype
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        normal, inverse, weight = ctx.saved_tensors
        grad = grads[0].contiguous()
        library = training_library()
        assert library is not None
        width = grad.size(-1)
        rows = grad.numel() // width
        grad_x = torch.empty_like(grad, dtype=ctx.x_dtype)
        grad_y = torch.empty_like(grad)
        grad_weight, grad_bias = torch.empty_like(weight), torch.empty_like(weight)
        library.add_norm_backward(
            grad.data_ptr(), normal.data_ptr(), inverse.data_ptr(), weight.data_ptr(),
            grad_x.data_ptr(), grad_y.data_ptr(), grad_weight.data_ptr(), grad_bias.data_ptr(),
            rows, width, *ctx.mask, *ctx.types,
        )  # fmt: skip
        return grad_x, grad_y, grad_weight, grad_bias, None, None
