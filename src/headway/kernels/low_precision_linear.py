"""Plain versions of the native linear maps with rounded numbers: int8 and bf16.

Shapes: M rows, K inputs, N outputs.
"""

import torch
from torch import Tensor

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
