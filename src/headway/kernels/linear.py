"""x W^T + b, by the quickest matrix product there is for the processor, and its gradient.

On a CPU torch takes MKL for float32, which uses half of what some processors can do; oneDNN, which
torch holds too, does not. Under autocast the products are bfloat16 with float32 sums inside.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

BF16 = torch.bfloat16


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map [..., I] to [..., O] with a weight [O, I]; bfloat16 under autocast."""
    ours = (
        x.device.type == "cpu"
        and weight.dtype == torch.float32
        and x.dtype in (torch.float32, BF16)
        and not torch.compiler.is_compiling()
        and torch.backends.mkldnn.is_available()
    )
    if not ours:
        return F.linear(x, weight, bias)
    low = torch.is_autocast_enabled("cpu")
    return _Linear.apply(x, weight, bias, low)  # type: ignore[no-untyped-call]


class Linear(nn.Linear):
    """torch's own module with `linear` in its forward."""

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., I] to [..., O]."""
        return linear(x, self.weight, self.bias)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, low: bool) -> Tensor:
        ctx.x_dtype, ctx.has_bias = x.dtype, bias is not None
        with torch.autocast("cpu", enabled=False):
            kind = BF16 if low else torch.float32
            x, weight = x.to(kind), weight.to(kind)
            ctx.save_for_backward(x, weight)
            return product(x, weight, None if bias is None else bias.to(kind))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        grad = grads[0]
        grad_NO, x_NI = grad.flatten(0, -2), x.flatten(0, -2)
        needs_x, needs_weight = ctx.needs_input_grad[:2]
        return (
            product(grad, weight.t()).to(ctx.x_dtype) if needs_x else None,
            product(grad_NO.t(), x_NI.t()) if needs_weight else None,
            grad_NO.sum(0, dtype=torch.float32) if ctx.has_bias else None,
            None,
        )


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply [..., I] with the transpose of [O, I], which may lie transposed in memory."""
    if x.dtype == BF16:
        return F.linear(x, weight, bias)
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
