"""Attention of packed rows on a GPU: torch's kernel for sentences of any lengths, and its plain twin.

The kernel takes cumulative lengths, so it computes no pair of two sentences, and its work does not depend
on a mask. The lengths of queries and keys differ in encoder-decoder attention.

Shapes: H heads, T queries and S keys of a row, K d_k, V d_v. Paper: section 3.2.1.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from headway.kernels.packing import sentences_of
from headway.kernels.visibility import Visibility
from headway.torch_private import is_traced

# Of a head, in torch's kernel, which takes multiples of 8.
LARGEST_WIDTH = 256
WIDTH_UNIT = 8


def has_varlen_attention(q: Tensor, k: Tensor, v: Tensor, visibility: Visibility) -> bool:
    """Whether `varlen_attention` can compute these: packed rows with bounds, and fit for the kernel.

    Args:
        q: Queries, [1, H, T, K].
        k: Keys, [1, H, S, K].
        v: Values, [1, H, S, V].
        visibility: Which query may attend to which key.
    """
    if visibility.packings is None or not q.size(0) == k.size(0) == 1:
        return False
    if q.device.type == "cpu" and not is_traced(q, k, v):
        return True  # by the plain twin
    if q.dtype not in (torch.bfloat16, torch.float16):
        return False
    if max(q.size(-1), v.size(-1)) > LARGEST_WIDTH:
        return False
    # The kernel needs tensor cores for bf16, which GPUs have from this generation on.
    return not q.is_cuda or torch.cuda.get_device_capability(q.device) >= (8, 0)


def varlen_attention(
    q_1HTK: Tensor, k_1HSK: Tensor, v_1HSV: Tensor, visibility: Visibility, scale: float
) -> Tensor:
    """Return softmax(scale Q K^T) V for each sentence, [1, H, T, V], where `has_varlen_attention`.

    A query whose sentence has no keys, which only padding can be, gets zeros.
    """
    q, k, v = (x.squeeze(0).transpose(0, 1) for x in (q_1HTK, k_1HSK, v_1HSV))
    if q.device.type == "cpu" and not is_traced(q):
        with torch.autocast("cpu", enabled=False):
            y_THV = plain_varlen_attention(q, k, v, visibility, scale)
    else:
        y_THV = _torch_varlen_attention(q, k, v, visibility, scale)
    return y_THV.transpose(0, 1)[None]


def _torch_varlen_attention(
    q_THK: Tensor, k_SHK: Tensor, v_SHV: Tensor, visibility: Visibility, scale: float
) -> Tensor:
    """Compute `varlen_attention` by torch's kernel: [T, H, V].

    The kernel has one width for keys and values. Zeros that fill them up change neither scores nor values.
    """
    from torch.nn.attention.varlen import varlen_attn  # most processes never need it

    assert visibility.packings is not None
    queries, keys = visibility.packings
    window = (
        visibility.positions_before if visibility.window else -1,
        visibility.positions_after if visibility.window or visibility.is_causal else -1,
    )
    d_v = v_SHV.size(-1)
    width = -(-max(q_THK.size(-1), d_v) // WIDTH_UNIT) * WIDTH_UNIT
    q, k, v = (
        x if x.size(-1) == width else F.pad(x, (0, width - x.size(-1)))
        for x in (q_THK, k_SHK, v_SHV)
    )
    y_THW = varlen_attn(
        q, k, v, queries.bounds, keys.bounds, queries.longest, keys.longest,
        scale=scale, window_size=window,
    )  # fmt: skip
    assert isinstance(y_THW, Tensor)
    return y_THW[..., :d_v]


def plain_varlen_attention(
    q_THK: Tensor, k_SHK: Tensor, v_SHV: Tensor, visibility: Visibility, scale: float
) -> Tensor:
    """Compute `varlen_attention` in plain torch, one sentence after the other: [T, H, V]."""
    assert visibility.packings is not None
    parts: list[Tensor] = []
    reach = Visibility(is_causal=visibility.is_causal, window=visibility.window)
    for queries, keys in zip(*map(sentences_of, visibility.packings), strict=True):
        q, k, v = (
            x.transpose(0, 1).to(torch.promote_types(x.dtype, torch.float32))  # as the kernel does
            for x in (q_THK[queries], k_SHK[keys], v_SHV[keys])
        )
        scores = q * scale @ k.transpose(1, 2)
        mask = reach.mask(range(q.size(1)), range(k.size(1)), q.device)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        parts.append((scores.softmax(-1) @ v).transpose(0, 1).to(q_THK.dtype))
    return torch.cat(parts)
