"""Every private interface of torch that Headway uses, each with a plain way where it is missing.

A new torch may rename any of them. Each function here tests its interface once and otherwise takes
a slower way with the same result; no other file of the package may name one
(`tests/test_torch_private.py`).

Shapes: I inputs, O outputs, N rows.
"""

import functools
from pathlib import Path
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


def add_each_(totals: list[Tensor], others: list[Tensor], factor: float = 1.0) -> None:
    """Add to each tensor ``factor`` times the one of the same place; on a GPU by few launches."""
    if hasattr(torch, "_foreach_add_"):
        torch._foreach_add_(totals, others, alpha=factor)
        return
    for total, other in zip(totals, others, strict=True):
        total.add_(other, alpha=factor)


def copy_each_(targets: list[Tensor], sources: list[Tensor]) -> None:
    """Overwrite each tensor by the one of the same place; on a GPU by few launches."""
    if hasattr(torch, "_foreach_copy_"):
        torch._foreach_copy_(targets, sources)
        return
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)


def mix_each_(starts: list[Tensor], ends: list[Tensor], share: float) -> None:
    """Move each tensor by a share of the way to the one of the same place; on a GPU by few launches."""
    if hasattr(torch, "_foreach_lerp_"):
        torch._foreach_lerp_(starts, ends, share)
        return
    for start, end in zip(starts, ends, strict=True):
        start.lerp_(end, share)


def mix_each(starts: list[Tensor], ends: list[Tensor], share: float) -> list[Tensor]:
    """Return what `mix_each_` would leave, and change nothing."""
    if hasattr(torch, "_foreach_lerp"):
        return list(torch._foreach_lerp(starts, ends, share))
    return [start.lerp(end, share) for start, end in zip(starts, ends, strict=True)]


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
    states = _tracing_states()
    return states is None or (
        states.tracing() is not None
        or states.dispatch_depth() > 0
        or states.functorch() is not None
    )


class _TracingStates:
    """torch's functions that say whether operations are traced, dispatched or transformed."""

    def __init__(self) -> None:
        private: Any = torch._C
        self.tracing = private._get_tracing_state
        self.dispatch_depth = private._len_torch_dispatch_stack
        self.functorch = private._functorch.peek_interpreter_stack


@functools.cache
def _tracing_states() -> _TracingStates | None:
    try:
        states = _TracingStates()
        known = states.dispatch_depth() >= 0
        states.tracing(), states.functorch()
    except (AttributeError, RuntimeError, TypeError):
        return None
    return states if known else None


def has_bf16_instructions() -> bool:
    """Whether the processor multiplies bf16 numbers by instructions made for them."""
    private: Any = torch.cpu
    try:
        return bool(private._is_avx512_bf16_supported() or private._is_amx_tile_supported())
    except AttributeError:
        return _cpuinfo_has_bf16(Path("/proc/cpuinfo"))


def _cpuinfo_has_bf16(cpuinfo: Path) -> bool:
    try:
        words = set(cpuinfo.read_text(encoding="utf-8").split())
    except OSError:
        return False
    return bool(words & {"avx512_bf16", "amx_tile"})
