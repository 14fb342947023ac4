"""Models with rounded matrix products in plain torch: slow versions of the native code."""

import copy

import torch
from torch import Tensor, nn

from headway.model import FeedForward, Transformer
from headway.torch_private import multiply_int8


def quantize(x: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row of [M, K] to integers in [-127, 127] times a scale: int8 [M, K], fp32 [M, 1].

    Native code rounds weights and inputs in the same way; ties go to even.
    """
    scale = x.abs().amax(-1, keepdim=True) / 127
    inverse = torch.where(scale > 0, 1 / scale, 0)
    return (x.double() * inverse.double()).round().to(torch.int8), scale


def int8_linear(x: Tensor, weight: tuple[Tensor, Tensor], bias: Tensor | None) -> Tensor:
    """Map [..., K] to [..., N] by a quantized weight [N, K], as native int8 maps do."""
    numbers, scale = quantize(x.flatten(0, -2))
    exact = multiply_int8(numbers, weight[0].t())
    y = exact.float() * (scale * weight[1].t())
    return (y if bias is None else y + bias).view(*x.shape[:-1], -1)


def bf16_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Map [..., K] to [..., N] with inputs and weight rounded to bf16 and sums in fp32."""
    y = x.bfloat16().float() @ weight.float().t()
    return y if bias is None else y + bias


class LowPrecisionLinear(nn.Module):
    """A linear map whose inputs and weights are rounded.

    Args:
        weight: [N, K] in fp32.
        bias: [N] or None.
        precision: bf16 or int8.
        scale: The weight is multiplied by it before it is rounded.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, precision: str, scale: float) -> None:
        super().__init__()
        weight = weight.detach().float() * scale
        self.bias = bias
        self.weight, self.scale = weight.bfloat16(), weight[:0]
        if precision == "int8":
            self.weight, self.scale = quantize(weight)

    def forward(self, x: Tensor, *_: Tensor) -> Tensor:
        """Map [..., K] to [..., N]."""
        if self.weight.dtype == torch.bfloat16:
            return bf16_linear(x, self.weight, self.bias)
        return int8_linear(x, (self.weight, self.scale), self.bias)


def reduce_precision(model: Transformer, precision: str) -> Transformer:
    """Return a copy of a model whose linear maps are rounded to bf16 or int8, the last one included."""
    found = copy.deepcopy(model)
    tied = found.target_table.weight if found.output.weight is None else found.output.weight
    if found.output.reduce is None:
        found.output = LowPrecisionLinear(tied, found.output.bias, precision, found.output.scale)  # type: ignore[assignment]
    for part in list(found.modules()):
        if isinstance(part, FeedForward):
            part.convolution = False  # computes the same with linear maps
        for name, child in list(part.named_children()):
            if isinstance(child, nn.Linear):
                setattr(part, name, LowPrecisionLinear(child.weight, child.bias, precision, 1.0))
    return found
