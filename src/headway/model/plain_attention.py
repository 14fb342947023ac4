"""The ways to compute attention in plain torch: with stored weights, and by torch's fused kernel.

Shapes: B batch, H heads, T queries, S keys, K width of queries and keys, V width of values.
Paper: section 3.2.1.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from headway.model.visibility import Visibility

# Above this many keys the weights of all pairs are not stored.
LONGEST_STORED = 256
# On an H100 torch prefers cuDNN's kernel, which plans again for every new shape. That takes tens or hundreds
# of milliseconds, and nearly every padded batch has new shapes.
ON_A_GPU = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]

# The softmax over the keys: (q, k, mask) -> [B, H, T, S].
Weights = Callable[[Tensor, Tensor, Tensor | None], Tensor]


def attend_by_weights(
    weights: Weights, q: Tensor, k: Tensor, v: Tensor, visibility: Visibility, p: float = 0.0
) -> Tensor:
    """Return the weighted sums of the values, [B, H, T, V]; many weights are stored a block at a time."""
    attend_stored = partial(attend_with_mask, weights, p=p)
    if k.size(-2) <= LONGEST_STORED:
        mask = attention_mask(q, k, visibility)
        return attend_stored(q, k, v, mask)
    from headway.model.blockwise import attend_in_blocks, attend_in_window

    attend_blocks = attend_in_window if visibility.window else attend_in_blocks
    return attend_blocks(attend_stored, q, k, v, visibility)


def attend_with_mask(
    weights: Weights, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, p: float = 0.0
) -> Tensor:
    """Return the weighted sums of the values, [B, H, T, V]; all weights are stored at once."""
    return F.dropout(weights(q, k, allowed), p) @ v


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allowed: Tensor | None,
    scale: float,
    *,
    is_causal: bool = False,
) -> Tensor:
    """Return softmax(scale Q K^T) V, [B, H, T, V], by torch's kernel, which stores no weights.

    Args:
        q: Queries.
        k: Keys.
        v: Values.
        allowed: Broadcasts to [B, H, T, S]; True: the query may attend to the key.
        scale: Multiplies the compatibilities.
        is_causal: Hide keys after the query; only without ``allowed``.
    """
    with nullcontext() if q.device.type == "cpu" else sdpa_kernel(ON_A_GPU):
        return F.scaled_dot_product_attention(q, k, v, allowed, is_causal=is_causal, scale=scale)


def dot_product_weights(
    q_BHTK: Tensor, k_BHSK: Tensor, allowed: Tensor | None, scale: float
) -> Tensor:
    """Return softmax(scale Q K^T), [B, H, T, S]."""
    return masked_softmax(q_BHTK * scale @ k_BHSK.transpose(-2, -1), allowed)


def attention_mask(q_BHTK: Tensor, k_BHSK: Tensor, visibility: Visibility) -> Tensor | None:
    """Draw the mask of all queries and all keys; `True` means the query may attend."""
    queries, keys = range(q_BHTK.size(-2)), range(k_BHSK.size(-2))
    return visibility.mask(queries, keys, q_BHTK.device)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax over the last axis with exact zeros where ``allowed`` is False.

    A row in which nothing is allowed (the padding of a packed batch) gets equal weights, never NaN:
    the fill is the smallest number, not minus infinity.
    """
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(-1)
