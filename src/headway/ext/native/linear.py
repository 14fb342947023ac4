"""x W^T + b by the processor's fastest matrix product, and its gradient.

On a CPU torch multiplies float32 matrices by MKL, which reaches half the speed of some processors.
oneDNN, which torch contains too, reaches all of it. Under autocast the products are bfloat16 with
float32 sums inside.

Shapes: I inputs, O outputs, N rows.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from headway.torch_private import onednn_linear

BF16 = torch.bfloat16


class JoinedLinear(torch.autograd.Function):
    """Applies linear maps to one input, [..., I], as one matrix product.

    The maps are given as weight, bias, weight, bias, in float32; all have a bias, or none has. The results are
    bfloat16 under autocast, else float32.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *parameters: Tensor | None) -> tuple[Tensor, ...]:
        """Compute the result, and keep what the gradient needs."""
        dtype = BF16 if torch.is_autocast_enabled("cpu") else torch.float32
        ctx.x_dtype, ctx.sizes = x.dtype, [w.size(0) for w in parameters[::2] if w is not None]
        with torch.autocast("cpu", enabled=False):
            x, weight = x.to(dtype), _concatenate(parameters[::2], dtype)
            assert weight is not None
            ctx.save_for_backward(x, weight)
            out = multiply(x, weight, _concatenate(parameters[1::2], dtype))
        return (out,) if len(ctx.sizes) == 1 else out.split(ctx.sizes, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Compute the gradients of the arguments."""
        x, weight = ctx.saved_tensors
        grad = grads[0] if len(grads) == 1 else torch.cat(grads, -1)
        grad_NO, x_NI = grad.flatten(0, -2), x.flatten(0, -2)
        gradients: list[Tensor | None] = [None] * (2 * len(ctx.sizes))
        if any(ctx.needs_input_grad[1::2]):
            gradients[::2] = multiply(grad_NO.t(), x_NI.t()).float().split(ctx.sizes)
        if any(ctx.needs_input_grad[2::2]):
            gradients[1::2] = grad_NO.sum(0, dtype=torch.float32).split(ctx.sizes)
        grad_x = multiply(grad, weight.t()).to(ctx.x_dtype) if ctx.needs_input_grad[0] else None
        return grad_x, *gradients


def _concatenate(tensors: Sequence[Tensor | None], dtype: torch.dtype) -> Tensor | None:
    """Join the weights, or the biases, of several maps; None if the maps have none."""
    given = [t.to(dtype) for t in tensors if t is not None]
    if not given:
        return None
    return given[0] if len(given) == 1 else torch.cat(given)


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply [..., I] with the transpose of [O, I], of any strides."""
    if x.dtype == BF16:
        return F.linear(x, weight, bias)
    return onednn_linear(x, weight, bias)
