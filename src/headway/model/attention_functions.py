"""How a query meets a key: scaled dot products, or a small network (additive attention).

Shapes: B batch, T queries, S keys, H heads, K d_k (queries and keys), V d_v (values).
Paper: section 3.2.1.
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.kernels.attention import attention, has_native_attention, longest_span
from headway.kernels.fused_attention import fused_attention
from headway.kernels.varlen_attention import has_varlen_attention, varlen_attention
from headway.kernels.visibility import Visibility
from headway.model.blockwise import attend_in_blocks, attend_in_window

# Above this many keys the weights of all pairs are not stored.
LONGEST_STORED = 256

EVERYTHING = Visibility()  # hides nothing


class DotProduct(nn.Module):
    """Scaled dot-product attention: softmax(Q K^T / sqrt(d_k)) V.

    Paper: section 3.2.1, equation 1, which also argues for the scale.

    Args:
        scaled: Divide compatibilities by sqrt(d_k).
        dropout: On the weights; the paper has none.
    """

    def __init__(self, *, scaled: bool = True, dropout: float = 0.0) -> None:
        super().__init__()
        self.scaled = scaled
        self.dropout = dropout

    def weights(self, q_BHTK: Tensor, k_BHSK: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Return the softmax over the keys, [B, H, T, S], before any dropout."""
        scaled_BHTK = q_BHTK * score_scale(self, q_BHTK.size(-1))
        return masked_softmax(scaled_BHTK @ k_BHSK.transpose(-2, -1), allowed)

    def forward(
        self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visibility: Visibility = EVERYTHING
    ) -> Tensor:
        """Return the weighted sums of the values, [B, H, T, V].

        There are six ways to compute them, and this function chooses. The first that fits is taken:

        1. torch's kernel for packed rows: the batch was made for a GPU and has the sentences' bounds.
        2. Headway's native kernel: on a CPU, where no query meets more than 256 keys.
        3. Stored weights, in plain torch: at most 256 keys, and not in training on a GPU.
        4. Stored weights, a block at a time: weights are dropped, or d_k is not d_v. torch's fused
           kernel would store all pairs then.
        5. torch's fused kernel, a block at a time: the mask differs from query to query.
        6. torch's fused kernel, once: only padding or only the future is hidden.
        """
        drops_weights = self.training and self.dropout > 0
        if not drops_weights and has_varlen_attention(q_BHTK, k_BHSK, v_BHSV, visibility):
            scale = score_scale(self, q_BHTK.size(-1))
            return varlen_attention(q_BHTK, k_BHSK, v_BHSV, visibility, scale)
        is_short = k_BHSK.size(-2) <= LONGEST_STORED
        if self.training and q_BHTK.device.type != "cpu":
            # Stored weights would be most of the memory, and not those of the largest batch.
            is_short = False
        if (
            not drops_weights
            and has_native_attention(q_BHTK, k_BHSK, v_BHSV)
            and (is_short or _spans_are_short(visibility))
        ):
            scale = score_scale(self, q_BHTK.size(-1))
            return attention(q_BHTK, k_BHSK, v_BHSV, visibility, scale)
        if is_short or drops_weights or q_BHTK.size(-1) != v_BHSV.size(-1):
            return attend_by_weights(self, q_BHTK, k_BHSK, v_BHSV, visibility)
        if visibility.window:
            return attend_in_window(self._attend_fused, q_BHTK, k_BHSK, v_BHSV, visibility)
        if visibility.is_packed or (visibility.is_causal and visibility.keys is not None):
            return attend_in_blocks(self._attend_fused, q_BHTK, k_BHSK, v_BHSV, visibility)
        # A mask of the keys alone hides the padding. What a padded query attends to is never read.
        keys = visibility.keys
        mask = None if keys is None else (keys.ids == 1)[:, None, None, :]
        return self._attend_fused(q_BHTK, k_BHSK, v_BHSV, mask, is_causal=visibility.is_causal)

    def _attend_fused(
        self,
        q_BHTK: Tensor,
        k_BHSK: Tensor,
        v_BHSV: Tensor,
        allowed: Tensor | None,
        *,
        is_causal: bool = False,
    ) -> Tensor:
        """Compute `attend_with_mask` by torch's kernel, which walks over the keys in blocks."""
        scale = None if self.scaled else 1.0
        return fused_attention(q_BHTK, k_BHSK, v_BHSV, allowed, scale, is_causal=is_causal)


class Additive(nn.Module):
    """Additive attention: a network of one hidden layer compares each query with each key.

    The projections of `MultiHeadAttention` are the hidden layer's weights, so that a compatibility
    is energy · tanh(q + k). Bahdanau et al. (2014); paper: section 3.2.1, compared with equation 1.

    Args:
        num_heads: H.
        d_k: Width K of the hidden layer of a head.
        scaled: Divide by sqrt(d_k).
        dropout: On the weights.
    """

    def __init__(
        self, num_heads: int, d_k: int, *, scaled: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.scaled = scaled
        self.dropout = dropout
        self.energy = nn.Parameter(torch.empty(num_heads, d_k))
        nn.init.uniform_(self.energy, -1, 1)  # gives compatibilities of size sqrt(d_k)

    def weights(self, q_BHTK: Tensor, k_BHSK: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Return the softmax over the keys, [B, H, T, S], before any dropout."""
        hidden_BHTSK = torch.tanh(q_BHTK.unsqueeze(-2) + k_BHSK.unsqueeze(-3))
        scores_BHTS = (hidden_BHTSK @ self.energy[:, None, :, None]).squeeze(-1)
        return masked_softmax(scores_BHTS * score_scale(self, q_BHTK.size(-1)), allowed)

    def forward(
        self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visibility: Visibility = EVERYTHING
    ) -> Tensor:
        """Return the weighted sums of the values, [B, H, T, V]."""
        return attend_by_weights(self, q_BHTK, k_BHSK, v_BHSV, visibility)


def score_scale(core: DotProduct | Additive, d_k: int) -> float:
    """Return the factor of the compatibilities of queries and keys."""
    return d_k**-0.5 if core.scaled else 1.0


def attend_by_weights(
    core: DotProduct | Additive,
    q_BHTK: Tensor,
    k_BHSK: Tensor,
    v_BHSV: Tensor,
    visibility: Visibility,
) -> Tensor:
    """Return the weighted sums of the values, [B, H, T, V], by the weights of a core."""
    attend_stored = partial(attend_with_mask, core)
    if k_BHSK.size(-2) <= LONGEST_STORED:
        mask = attention_mask(q_BHTK, k_BHSK, visibility)
        return attend_stored(q_BHTK, k_BHSK, v_BHSV, mask)
    attend = attend_in_window if visibility.window else attend_in_blocks
    return attend(attend_stored, q_BHTK, k_BHSK, v_BHSV, visibility)


def attend_with_mask(
    core: DotProduct | Additive,
    q_BHTK: Tensor,
    k_BHSK: Tensor,
    v_BHSV: Tensor,
    allowed: Tensor | None,
) -> Tensor:
    """Return the weighted sums of the values, [B, H, T, V]; all weights are stored at once."""
    weights = core.weights(q_BHTK, k_BHSK, allowed)
    return F.dropout(weights, core.dropout, core.training) @ v_BHSV


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


def _spans_are_short(visibility: Visibility) -> bool:
    """Whether the sentences of packed rows are so short that their weights may be stored."""
    if not visibility.is_packed or visibility.queries is None or visibility.keys is None:
        return False
    return longest_span(visibility.queries.ids, visibility.keys.ids) <= LONGEST_STORED
