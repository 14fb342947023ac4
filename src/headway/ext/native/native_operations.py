"""The operations of a processor: native code of this package, and products of oneDNN; and which inputs they take."""

from collections.abc import Sequence
from typing import TypeGuard

import torch
from torch import Tensor, nn

from headway.ext.native.attention import NativeAttention, longest_span
from headway.ext.native.dropout import NativeDropout
from headway.ext.native.linear import BF16, JoinedLinear
from headway.ext.native.normalization import NativeAddNorm
from headway.ext.native.training_library import TYPES, training_functions, training_library
from headway.model import Linear, Mask, Operations, Visibility, check_labels, plain_attention
from headway.torch_private import has_onednn_linear, is_traced, may_have_hooks

# With fewer rows and no gradient, torch multiplies: oneDNN compiles and keeps a product for each
# number of rows, which takes longer than few rows do, and a server sees sentences of all lengths.
FEWEST_ROWS = 256


class NativeOperations(Operations):
    """Operations for processors."""

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return x W^T + b: [..., I] becomes [..., O], in bfloat16 under autocast."""
        if not fits_onednn(x, weight):
            return super().linear(x, weight, bias)
        return JoinedLinear.apply(x, weight, bias)[0]  # type: ignore[no-untyped-call]

    def joined_linear(self, x: Tensor, maps: Sequence[nn.Module]) -> tuple[Tensor, ...]:
        """Apply several linear maps to one input, as one product."""
        if not are_mergeable(maps) or not fits_onednn(x, *(each.weight for each in maps)):
            return super().joined_linear(x, maps)
        parameters = [p for each in maps for p in (each.weight, each.bias)]
        return JoinedLinear.apply(x, *parameters)  # type: ignore[no-untyped-call]

    def apply_mask(self, x: Tensor, mask: Mask) -> Tensor:
        """Multiply [..., D], which is not empty, with the factors of a dropout mask."""
        if not fits_native(x):
            return super().apply_mask(x, mask)
        return NativeDropout.apply(x, mask)  # type: ignore[no-untyped-call]

    def add_norm(
        self, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, epsilon: float, p: float
    ) -> Tensor:
        """Return LayerNorm(x + Dropout(y)) in one pass over memory; sums are float32."""
        if not fits_add_norm(x, y, weight, bias):
            return super().add_norm(x, y, weight, bias, epsilon, p)
        mask = Mask.draw(p)
        return NativeAddNorm.apply(x, y, weight, bias, epsilon, mask)  # type: ignore[no-untyped-call]

    def attention(
        self, q: Tensor, k: Tensor, v: Tensor, visibility: Visibility, scale: float, p: float = 0.0
    ) -> Tensor:
        """Return softmax(scale Q K^T) V, [B, H, T, V]; weights of short spans are never stored."""
        if p or not fits_attention(q, k, v) or not _is_short(visibility, k.size(-2)):
            return super().attention(q, k, v, visibility, scale, p)
        return NativeAttention.apply(q, k, v, visibility, scale)  # type: ignore[no-untyped-call]

    def cross_entropy_(
        self, logits_NV: Tensor, labels_N: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Turn logits into the gradient of their cross entropy in one pass over memory, in place."""
        if not fits_native(logits_NV) or not logits_NV.is_contiguous():
            return super().cross_entropy_(logits_NV, labels_N, smoothing)
        labels_N = check_labels(labels_N, logits_NV)
        sums = torch.zeros(2, dtype=torch.float64)
        training_functions().entropy(
            logits_NV, labels_N, *logits_NV.shape, smoothing, sums, TYPES[logits_NV.dtype]
        )
        torch.autograd.graph.increment_version(logits_NV)  # autograd must not use the logits again
        return sums[0], sums[1]

    def agreement_(
        self, logits_N2V: Tensor, labels_N: Tensor, smoothing: float, weight: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Turn two predictions of each label into the gradient of their loss, in place."""
        if not fits_native(logits_N2V) or not logits_N2V.is_contiguous():
            return super().agreement_(logits_N2V, labels_N, smoothing, weight)
        labels_N = check_labels(labels_N, logits_N2V)
        sums = torch.zeros(3, dtype=torch.float64)
        shape = len(labels_N), logits_N2V.size(2)
        training_functions().agreement(
            logits_N2V, labels_N, *shape, smoothing, weight, sums, TYPES[logits_N2V.dtype]
        )
        torch.autograd.graph.increment_version(logits_N2V)
        return sums[0], sums[1], sums[2]


def fits_native(*tensors: Tensor) -> bool:
    """Whether native code can take these: on the CPU, float32 or bfloat16, not traced, and it could be built."""
    return (
        not is_traced(*tensors)
        and all(t.device.type == "cpu" and t.dtype in TYPES for t in tensors)
        and training_library() is not None
    )


def fits_onednn(x: Tensor, *weights: Tensor) -> bool:
    """Whether `JoinedLinear` takes these and is faster: float32 weights and no few rows of an input."""
    return (
        x.dim() > 1
        and (torch.is_grad_enabled() or x.numel() >= FEWEST_ROWS * x.size(-1))
        and all(weight.dtype == torch.float32 for weight in weights)
        and x.dtype in (torch.float32, BF16)
        and x.numel() > 0
        and (not torch.is_autocast_enabled("cpu") or torch.get_autocast_dtype("cpu") == BF16)
        and not is_traced(x, *weights)
        and has_onednn_linear()
    )


def are_mergeable(maps: Sequence[nn.Module]) -> TypeGuard[Sequence[Linear]]:
    """Whether calling these does nothing else than their linear maps."""
    return all(type(each) is Linear and not may_have_hooks(each) for each in maps)


def fits_add_norm(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Whether `NativeAddNorm` takes these."""
    return (
        fits_native(x, y, weight, bias)
        and (x.dtype, y.dtype) != (torch.bfloat16, torch.float32)
        and weight.dtype == bias.dtype == torch.float32
        and weight.shape == bias.shape == y.shape[-1:]
        and weight.is_contiguous()
        and bias.is_contiguous()
        and x.shape == y.shape
        and y.numel() > 0
    )


def fits_attention(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether `NativeAttention` takes these: one type, shapes that agree, and dense rows."""
    return (
        q.dtype == k.dtype == v.dtype
        and q.shape[:2] == k.shape[:2] == v.shape[:2]
        and k.size(2) == v.size(2)
        and q.size(3) == k.size(3)
        and q.stride(-1) == k.stride(-1) == v.stride(-1) == 1
        and fits_native(q, k, v)
    )


def _is_short(visibility: Visibility, keys: int) -> bool:
    """Whether no query meets more keys than those whose weights may be stored, in packed rows of its own sentence."""
    if keys <= plain_attention.LONGEST_STORED:
        return True
    if not visibility.is_packed or visibility.queries is None or visibility.keys is None:
        return False
    longest = longest_span(visibility.queries.ids, visibility.keys.ids)
    return longest <= plain_attention.LONGEST_STORED
