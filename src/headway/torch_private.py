"""Every private interface of torch that Headway uses, each with a plain way where it is missing.

A new torch may rename any of them. Each function here tests its interface once and otherwise takes
a slower way with the same result; no other file of the package may name one
(`tests/test_torch_private.py`).

Shapes: I inputs, O outputs, N rows.
"""

import functools
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Multiply float32 [..., I] with the transpose of [O, I] by oneDNN, where `has_onednn_linear`."""
    # The operator reads a bias without regard to its stride.
    bias = None if bias is None else bias.contiguous()
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


@functools.cache
def has_onednn_linear() -> bool:
    """Whether `onednn_linear` exists and computes what `torch.nn.functional.linear` does."""
    if not torch.backends.mkldnn.is_available():
        return False
    x = torch.arange(6, dtype=torch.float32).view(2, 3)
    weight = torch.arange(12, dtype=torch.float32).view(4, 3) - 5
    try:
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            found = onednn_linear(x, weight, weight[:, 0])
        return torch.equal(found, F.linear(x, weight, weight[:, 0]))
    except (AttributeError, RuntimeError, TypeError):
        return False


def multiply_int8(x_NI: Tensor, weight_IO: Tensor) -> Tensor:
    """Multiply int8 [N, I] with int8 [I, O] without rounding: int32 [N, O]."""
    if _has_int8_product():
        return torch._int_mm(x_NI, weight_IO)
    # 64-bit floats hold these sums exactly.
    return (x_NI.double() @ weight_IO.double()).to(torch.int32)


@functools.cache
def _has_int8_product() -> bool:
    x = torch.tensor([[-127, 3], [5, 127]], dtype=torch.int8)
    try:
        return torch._int_mm(x, x).tolist() == [[16144, 0], [0, 16144]]
    except (AttributeError, RuntimeError, TypeError):
        return False


def for_each(
    operation: str, tensors: list[Tensor], others: list[Tensor], **numbers: float
) -> list[Tensor]:
    """Do an operation with each tensor and the one of the same place; on a GPU by few launches.

    Args:
        operation: Of a tensor and another one, such as "lerp"; of "add_", "copy_" and the like, which change the tensors, the
            result is not used.
        tensors: The first one of each pair.
        others: The second one.
        numbers: Further arguments, such as ``alpha``.
    """
    together: Any = getattr(torch, f"_foreach_{operation}", None)
    if together is not None:
        return list(together(tensors, others, **numbers) or ())
    pairs = zip(tensors, others, strict=True)
    return [getattr(tensor, operation)(other, **numbers) for tensor, other in pairs]


def may_have_hooks(module: nn.Module) -> bool:
    """Whether calling the module may do more than its `forward`; True where that is unknown."""
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, name, True) for name in names)


def has_gradient_hook(parameter: nn.Parameter) -> bool:
    """Whether a hook runs after gradients are accumulated; False where that is unknown."""
    return bool(getattr(parameter, "_post_accumulate_grad_hooks", None))


def is_traced(*tensors: Tensor) -> bool:
    """Whether torch traces, transforms or counts operations, and so has to see plain torch.

    Where that is unknown, tensors count as traced, and native functions are not used.
    """
    if torch.compiler.is_compiling() or any(type(t) not in (Tensor, nn.Parameter) for t in tensors):
        return True
    private: Any = torch._C
    try:
        return (
            private._get_tracing_state() is not None
            or private._len_torch_dispatch_stack() > 0
            or private._functorch.peek_interpreter_stack() is not None
        )
    except (AttributeError, RuntimeError, TypeError):
        return True


def has_bf16_instructions() -> bool:
    """Whether the processor multiplies bf16 numbers by instructions made for them; False where that is unknown."""
    names = "_is_avx512_bf16_supported", "_is_amx_tile_supported"
    return any(getattr(torch.cpu, name, bool)() for name in names)
