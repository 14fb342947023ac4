"""x W^T + b, by the quickest matrix product there is for the processor, and its gradient.

On a CPU torch takes MKL for float32, which uses half of what some processors can do; oneDNN, which
torch holds too, does not. Under autocast the products are bfloat16 with float32 sums inside.

Shapes: I inputs, O outputs, N rows.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from headway.kernels.training import watched

BF16 = torch.bfloat16
# Rows below which a single pass takes torch's way: oneDNN compiles a product for each number of rows,
# which takes longer than few rows do, and keeps it: a server sees sentences of all lengths.
FEW = 256


class Linear(nn.Linear):
    """torch's own module with `linear` in its forward."""

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., I] to [..., O]."""
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map [..., I] to [..., O] with a weight [O, I]; bfloat16 under autocast."""
    if not ours(x, weight):
        return F.linear(x, weight, bias)
    low = torch.is_autocast_enabled("cpu")
    return _Linear.apply(x, low, weight, bias)[0]  # type: ignore[no-untyped-call]


def together(x: Tensor, maps: Sequence[nn.Linear]) -> tuple[Tensor, ...]:
    """Apply several maps to one input, as one matrix product where that is quicker."""
    plain = all(type(each) is Linear and not _hooked(each) for each in maps)
    if not plain or not ours(x, *(each.weight for each in maps)):
        return tuple(each(x) for each in maps)
    low = torch.is_autocast_enabled("cpu")
    parameters = [p for each in maps for p in (each.weight, each.bias)]
    return _Linear.apply(x, low, *parameters)  # type: ignore[no-untyped-call]


def ours(x: Tensor, *weights: Tensor) -> bool:
    """Whether `_Linear` can take these: float32 weights on the CPU, in no traced program."""
    return (
        x.device.type == "cpu"
        and all(weight.dtype == torch.float32 for weight in weights)
        and x.dtype in (torch.float32, BF16)
        and x.dim() > 1
        and x.numel() > 0
        and (not torch.is_autocast_enabled("cpu") or torch.get_autocast_dtype("cpu") == BF16)
        and torch.backends.mkldnn.is_available()
        and (torch.is_grad_enabled() or x.numel() >= FEW * x.size(-1))
        and not watched(x, *weights)
    )


def _hooked(module: nn.Module) -> bool:
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
    )


class _Linear(torch.autograd.Function):
    """Takes weights and biases in turn; all maps have a bias, or none has."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, low: bool, *parameters: Tensor | None) -> tuple[Tensor, ...]:
        kind = BF16 if low else torch.float32
        ctx.x_dtype, ctx.sizes = x.dtype, [w.size(0) for w in parameters[::2] if w is not None]
        with torch.autocast("cpu", enabled=False):
            x, weight = x.to(kind), _stack(parameters[::2], kind)
            assert weight is not None
            ctx.save_for_backward(x, weight)
            out = product(x, weight, _stack(parameters[1::2], kind))
        return (out,) if len(ctx.sizes) == 1 else out.split(ctx.sizes, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        grad = grads[0] if len(grads) == 1 else torch.cat(grads, -1)
        grad_NO, x_NI = grad.flatten(0, -2), x.flatten(0, -2)
        found: list[Tensor | None] = [None] * (2 * len(ctx.sizes))
        if any(ctx.needs_input_grad[2::2]):
            found[::2] = product(grad_NO.t(), x_NI.t()).float().split(ctx.sizes)
        if any(ctx.needs_input_grad[3::2]):
            found[1::2] = grad_NO.sum(0, dtype=torch.float32).split(ctx.sizes)
        grad_x = product(grad, weight.t()).to(ctx.x_dtype) if ctx.needs_input_grad[0] else None
        return grad_x, None, *found


def _stack(tensors: Sequence[Tensor | None], kind: torch.dtype) -> Tensor | None:
    """Put weights, or biases, of several maps into one tensor."""
    found = [t.to(kind) for t in tensors if t is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else torch.cat(found)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply [..., I] with the transpose of [O, I], which may lie transposed in memory."""
    if x.dtype == BF16:
        return F.linear(x, weight, bias)
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
