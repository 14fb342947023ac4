"""Scaled dot-product attention of short sequences that never stores its weights.

Shapes: B batch, H heads, T queries, S keys, K width of queries and keys, V width of values.
Paper: section 3.2.1, equation 1.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.ext.native.training_library import TYPES, AttentionArguments, training_functions
from headway.model import Segments, Visibility


def longest_span(queries_BT: Tensor, keys_BS: Tensor) -> int:
    """Return the most keys that `NativeAttention` compares one query with, given the segments' ids."""
    rows = max(len(queries_BT), len(keys_BS))
    queries_BT = queries_BT.long().expand(rows, -1).contiguous()
    keys_BS = keys_BS.long().expand(rows, -1).contiguous()
    longest = ctypes.c_int64()
    training_functions().longest_span(
        queries_BT, keys_BS, *queries_BT.shape, keys_BS.size(1), ctypes.byref(longest)
    )
    return longest.value


class NativeAttention(torch.autograd.Function):
    """softmax(scale Q K^T) V, [B, H, T, V], of dense rows of one type.

    A query that may attend to no key gets the mean of all values, in packed rows of its sentence's values.
    """

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, visibility: Visibility, scale: float
    ) -> Tensor:
        """Compute the result, and keep what the gradient needs."""
        query_segments = _native_ids(visibility.queries, q)
        key_segments = _native_ids(visibility.keys, k)
        reach = visibility.keys_before, visibility.keys_after
        arguments = _arguments(q, k, v, query_segments, key_segments, reach, scale)
        out_BTHV = q.new_empty(q.size(0), q.size(2), q.size(1), v.size(3))
        log_z = torch.empty(q.shape[:3])
        training_functions().attention(
            ctypes.byref(arguments), q, k, v, out_BTHV, log_z, TYPES[q.dtype]
        )
        ctx.save_for_backward(q, k, v, log_z, query_segments, key_segments)
        ctx.reach, ctx.scale = reach, scale
        return out_BTHV.transpose(1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Compute the gradients of the arguments."""
        q, k, v, log_z, query_segments, key_segments = ctx.saved_tensors
        arguments = _arguments(q, k, v, query_segments, key_segments, ctx.reach, ctx.scale)
        grad_BTHV = grads[0].transpose(1, 2).contiguous()
        # The projections read gradients as [B, T, H, K]. The kernel writes no gradient of a key
        # whose segment has no query.
        new = torch.empty_like if query_segments is None else torch.zeros_like
        gradients = [
            new(t.transpose(1, 2), memory_format=torch.contiguous_format) for t in (q, k, v)
        ]
        training_functions().attention_backward(
            ctypes.byref(arguments), q, k, v, grad_BTHV, log_z, *gradients, TYPES[q.dtype]
        )
        return (*(t.transpose(1, 2) for t in gradients), None, None)


def _native_ids(segments: Segments | None, x_BHTK: Tensor) -> Tensor | None:
    if segments is None:
        return None
    return segments.ids.long().expand(x_BHTK.size(0), x_BHTK.size(2)).contiguous()


def _arguments(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    query_segments: Tensor | None,
    key_segments: Tensor | None,
    reach: tuple[int, int],
    scale: float,
) -> AttentionArguments:
    shape = (q.size(0), q.size(1), q.size(2), k.size(2), q.size(3), v.size(3))
    strides = [stride for t in (q, k, v) for stride in (t.stride(0), t.stride(2), t.stride(1))]
    pointers = [None if ids is None else ids.data_ptr() for ids in (query_segments, key_segments)]
    return AttentionArguments(*shape, *strides, *pointers, *reach, scale)
