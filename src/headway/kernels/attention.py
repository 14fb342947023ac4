"""Scaled dot-product attention of short sequences without ever storing its weights.

Shapes: B batch, H heads, T queries, S keys, K width of queries and keys, V of values.
Paper: section 3.2.1, equation 1.
"""

import ctypes
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.kernels import training
from headway.kernels.training import TYPES

EVERYWHERE = 1 << 40  # further than any key


class Sight(NamedTuple):
    """What queries may see: keys of their own segment, some positions back and ahead.

    Attributes:
        queries: Segments [B, T]; None: all ones.
        keys: Segments [B, S]; None: every key may be seen.
        back: How many positions before its own a query sees.
        ahead: How many after.
    """

    queries: Tensor | None
    keys: Tensor | None
    back: int = EVERYWHERE
    ahead: int = EVERYWHERE


class _Heads(ctypes.Structure):
    """`Heads` of native/attention.h: sizes, distances in elements, what is hidden."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in "BHTSKV"),
        *((f"distance{i}", ctypes.c_int64) for i in range(9)),
        ("query_segments", ctypes.c_void_p),
        ("key_segments", ctypes.c_void_p),
        ("back", ctypes.c_int64),
        ("ahead", ctypes.c_int64),
        ("scale", ctypes.c_float),
    ]


def native(q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor) -> bool:
    """Whether `attention` has a native body for these."""
    same = (
        q_BHTK.dtype == k_BHSK.dtype == v_BHSV.dtype
        and q_BHTK.shape[:2] == k_BHSK.shape[:2] == v_BHSV.shape[:2]
        and k_BHSK.size(2) == v_BHSV.size(2)
        and q_BHTK.size(3) == k_BHSK.size(3)
    )
    inner = all(t.stride(-1) == 1 for t in (q_BHTK, k_BHSK, v_BHSV))
    return same and inner and training.native(q_BHTK, k_BHSK, v_BHSV) is not None


def attention(q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, sight: Sight, scale: float) -> Tensor:
    """softmax(scale Q K^T) V, [B, H, T, V]; only where `native` says yes.

    A query that sees no key averages all values.
    """
    return _Attention.apply(q_BHTK, k_BHSK, v_BHSV, sight, scale)  # type: ignore[no-untyped-call]


def longest_span(queries_BT: Tensor, keys_BS: Tensor) -> int:
    """Return the most keys that a query of packed rows has to be compared with."""
    functions = training.functions()
    if functions is None:
        return keys_BS.size(1)
    rows = max(len(queries_BT), len(keys_BS))
    queries_BT = queries_BT.long().expand(rows, -1).contiguous()
    keys_BS = keys_BS.long().expand(rows, -1).contiguous()
    pointers = queries_BT.data_ptr(), keys_BS.data_ptr()
    return int(functions.longest_span(*pointers, *queries_BT.shape, keys_BS.size(1)))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, sight: Sight, scale: float) -> Tensor:
        functions = training.native(q, k, v)
        assert functions is not None
        shapes = (q.size(0), q.size(2)), (q.size(0), k.size(2))
        segments = [
            s if s is None else s.long().expand(shape).contiguous()
            for s, shape in zip(sight[:2], shapes, strict=True)
        ]
        heads = _heads(q, k, v, segments, sight, scale)
        out_BTHV = q.new_empty(q.size(0), q.size(2), q.size(1), v.size(3))
        log_z = torch.empty(q.shape[:3])
        functions.attention(
            ctypes.addressof(heads), q.data_ptr(), k.data_ptr(), v.data_ptr(), out_BTHV.data_ptr(),
            log_z.data_ptr(), TYPES[q.dtype],
        )  # fmt: skip
        ctx.save_for_backward(q, k, v, log_z, *segments)
        ctx.sight, ctx.scale = sight, scale
        return out_BTHV.transpose(1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, log_z, *segments = ctx.saved_tensors
        functions = training.functions()
        assert functions is not None
        heads = _heads(q, k, v, segments, ctx.sight, ctx.scale)
        grad_BTHV = grads[0].transpose(1, 2).contiguous()
        # They lie as the projections want them, [B, T, H, K]; nobody may ask a key of a packed row.
        new = torch.empty_like if segments[0] is None else torch.zeros_like
        found = [new(t.transpose(1, 2), memory_format=torch.contiguous_format) for t in (q, k, v)]
        functions.attention_backward(
            ctypes.addressof(heads), q.data_ptr(), k.data_ptr(), v.data_ptr(),
            grad_BTHV.data_ptr(), log_z.data_ptr(), *(t.data_ptr() for t in found), TYPES[q.dtype],
        )  # fmt: skip
        return (*(t.transpose(1, 2) for t in found), None, None)


def _heads(
    q: Tensor, k: Tensor, v: Tensor, segments: list[Tensor | None], sight: Sight, scale: float
) -> _Heads:
    distances = [d for t in (q, k, v) for d in (t.stride(0), t.stride(2), t.stride(1))]
    pointers = [None if s is None else s.data_ptr() for s in segments]
    shape = (q.size(0), q.size(1), q.size(2), k.size(2), q.size(3), v.size(3))
    return _Heads(*shape, *distances, *pointers, sight.back, sight.ahead, scale)
