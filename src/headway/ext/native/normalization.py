"""LayerNorm(x + Dropout(y)) in one pass over memory (paper: sections 3.1 and 5.4)."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.ext.native.training_library import TYPES, training_functions
from headway.model import Mask


class NativeAddNorm(torch.autograd.Function):
    """LayerNorm(x + y), [..., D], with a dropout mask on y; the result has the type of y, sums are float32."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, epsilon: float, mask: Mask
    ) -> Tensor:
        """Compute the result, and keep what the gradient needs."""
        x, y = x.contiguous(), y.contiguous()
        width = y.size(-1)
        rows = y.numel() // width
        ctx.types = TYPES[x.dtype], TYPES[y.dtype]
        out, normal = torch.empty_like(y), torch.empty_like(y)
        inverse = torch.empty(rows)  # 1 / standard deviation
        tensors = x, y, weight, bias, out, normal, inverse
        training_functions().add_norm(*tensors, rows, width, epsilon, *mask, *ctx.types)
        ctx.save_for_backward(normal, inverse, weight)
        ctx.mask, ctx.x_dtype = mask, x.dtype
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Compute the gradients of the arguments."""
        normal, inverse, weight = ctx.saved_tensors
        grad = grads[0].contiguous()
        width = grad.size(-1)
        rows = grad.numel() // width
        grad_x = torch.empty_like(grad, dtype=ctx.x_dtype)
        grad_y = torch.empty_like(grad)
        grad_weight, grad_bias = torch.empty_like(weight), torch.empty_like(weight)
        gradients = grad_x, grad_y, grad_weight, grad_bias
        training_functions().add_norm_backward(
            grad, normal, inverse, weight, *gradients, rows, width, *ctx.mask, *ctx.types
        )
        return *gradients, None, None
