"""x W^T + b by the processor's fastest matrix product, and its gradient.

On a CPU torch multiplies float32 matrices by MKL, which reaches half the speed of some processors.
oneDNN, which torch contains too, reaches all of it. Under autocast the products are bfloat16 with
float32 sums inside.

Shapes: I inputs, O outputs, N rows.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from headway.torch_private import (
    has_onednn_linear,
    is_traced,
    may_have_hooks,
    onednn_linear,
)

BF16 = torch.bfloat16
# With fewer rows and no gradient, torch multiplies: oneDNN compiles and keeps a product for each
# number of rows, which takes longer than few rows do, and a server sees sentences of all lengths.
FEWEST_ROWS = 256


class Linear(nn.Linear):
    """torch's own module with `linear` in its forward."""

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., I] to [..., O]."""
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map [..., I] to [..., O] with a weight [O, I]; bfloat16 under autocast."""
    if not _can_use_onednn(x, weight):
        return F.linear(x, weight, bias)
    is_bf16 = torch.is_autocast_enabled("cpu")
    return _Linear.apply(x, is_bf16, weight, bias)[0]  # type: ignore[no-untyped-call]


def apply_jointly(x: Tensor, maps: Sequence[nn.Linear]) -> tuple[Tensor, ...]:
    """Apply several maps to one input, as one matrix product where that is faster."""
    mergeable = all(type(each) is Linear and not may_have_hooks(each) for each in maps)
    if not mergeable or not _can_use_onednn(x, *(each.weight for each in maps)):
        return tuple(each(x) for each in maps)
    is_bf16 = torch.is_autocast_enabled("cpu")
    parameters = [p for each in maps for p in (each.weight, each.bias)]
    return _Linear.apply(x, is_bf16, *parameters)  # type: ignore[no-untyped-call]


def _can_use_onednn(x: Tensor, *weights: Tensor) -> bool:
    """Whether `_Linear` takes these: float32 weights on the CPU, not traced."""
    return (
        x.device.type == "cpu"
        and all(weight.dtype == torch.float32 for weight in weights)
        and x.dtype in (torch.float32, BF16)
        and x.dim() > 1
        and x.numel() > 0
        and (not torch.is_autocast_enabled("cpu") or torch.get_autocast_dtype("cpu") == BF16)
        and (torch.is_grad_enabled() or x.numel() >= FEWEST_ROWS * x.size(-1))
        and not is_traced(x, *weights)
        and has_onednn_linear()
    )


class _Linear(torch.autograd.Function):
    """Applies maps, given as weight, bias, weight, bias; all have a bias, or none has."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, is_bf16: bool, *parameters: Tensor | None
    ) -> tuple[Tensor, ...]:
        dtype = BF16 if is_bf16 else torch.float32
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
        x, weight = ctx.saved_tensors
        grad = grads[0] if len(grads) == 1 else torch.cat(grads, -1)
        grad_NO, x_NI = grad.flatten(0, -2), x.flatten(0, -2)
        gradients: list[Tensor | None] = [None] * (2 * len(ctx.sizes))
        if any(ctx.needs_input_grad[2::2]):
            gradients[::2] = multiply(grad_NO.t(), x_NI.t()).float().split(ctx.sizes)
        if any(ctx.needs_input_grad[3::2]):
            gradients[1::2] = grad_NO.sum(0, dtype=torch.float32).split(ctx.sizes)
        grad_x = multiply(grad, weight.t()).to(ctx.x_dtype) if ctx.needs_input_grad[0] else None
        return grad_x, None, *gradients


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
