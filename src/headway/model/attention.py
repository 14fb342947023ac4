"""Attention: how a query meets keys, many heads of it, and the self-attention of a layer.

Shapes: B batch, T queries, S keys, D d_model, H heads, K d_k (queries and keys), V d_v (values),
N rows of a step (sentences x beams). Paper: section 3.2.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.kernels.attention import EVERYWHERE, Sight, attention, longest_span, native
from headway.kernels.linear import Linear, together
from headway.model.long import banded, in_blocks
from headway.model.state import Past
from headway.model.visible import Visible

# Above this many keys the scores are not stored.
LONGEST_STORED = 256

EVERYTHING = Visible()


class Compatibility(nn.Module):
    """How well a key answers a query; what attention is made of.

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
        raise NotImplementedError

    def stored(
        self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, allowed: Tensor | None
    ) -> Tensor:
        """Return the weighted sums of the values, [B, H, T, V], with all weights held at once."""
        weights = self.weights(q_BHTK, k_BHSK, allowed)
        return F.dropout(weights, self.dropout, self.training) @ v_BHSV

    def forward(
        self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visible: Visible = EVERYTHING
    ) -> Tensor:
        """Return the weighted sums of the values, [B, H, T, V]."""
        if k_BHSK.size(-2) <= LONGEST_STORED:
            return self.stored(q_BHTK, k_BHSK, v_BHSV, whole_mask(q_BHTK, k_BHSK, visible))
        walk = banded if visible.window else in_blocks
        return walk(self.stored, q_BHTK, k_BHSK, v_BHSV, visible)


class DotProduct(Compatibility):
    """Scaled dot-product attention: softmax(Q K^T / sqrt(d_k)) V.

    Paper: section 3.2.1, equation 1; the paper's argument is why one should scale.
    """

    def weights(self, q_BHTK: Tensor, k_BHSK: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Return the softmax over the keys, [B, H, T, S], before any dropout."""
        scale = q_BHTK.size(-1) ** -0.5 if self.scaled else 1.0
        return masked_softmax((q_BHTK * scale) @ k_BHSK.transpose(-2, -1), allowed)

    def fused(
        self,
        q_BHTK: Tensor,
        k_BHSK: Tensor,
        v_BHSV: Tensor,
        allowed: Tensor | None,
        *,
        causal: bool = False,
    ) -> Tensor:
        """Return the same as `stored` by torch's kernel, which walks over the keys in blocks."""
        return F.scaled_dot_product_attention(
            q_BHTK,
            k_BHSK,
            v_BHSV,
            allowed,
            is_causal=causal,
            scale=None if self.scaled else 1.0,
        )

    def forward(
        self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visible: Visible = EVERYTHING
    ) -> Tensor:
        """Return the weighted sums of the values, [B, H, T, V]."""
        dropout = self.dropout and self.training
        if not dropout and native(q_BHTK, k_BHSK, v_BHSV) and stored_keys(k_BHSK, visible):
            scale = q_BHTK.size(-1) ** -0.5 if self.scaled else 1.0
            return attention(q_BHTK, k_BHSK, v_BHSV, sight(visible), scale)
        if k_BHSK.size(-2) <= LONGEST_STORED:
            return self.stored(q_BHTK, k_BHSK, v_BHSV, whole_mask(q_BHTK, k_BHSK, visible))
        # The kernel stores every pair after all where it has to drop weights or widths differ.
        if dropout or q_BHTK.size(-1) != v_BHSV.size(-1):
            return super().forward(q_BHTK, k_BHSK, v_BHSV, visible)
        if visible.window:
            return banded(self.fused, q_BHTK, k_BHSK, v_BHSV, visible)
        if visible.packed or (visible.causal and visible.keys is not None):
            return in_blocks(self.fused, q_BHTK, k_BHSK, v_BHSV, visible)
        # Only padding is hidden, if anything: a mask of the keys alone will do. What the padding
        # itself then attends to, nobody sees.
        real = None if visible.keys is None else (visible.keys == 1)[:, None, None, :]
        return self.fused(q_BHTK, k_BHSK, v_BHSV, real, causal=visible.causal)


class Additive(Compatibility):
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
        super().__init__(scaled=scaled, dropout=dropout)
        self.energy = nn.Parameter(torch.empty(num_heads, d_k))
        nn.init.uniform_(self.energy, -1, 1)  # as wide as it is: compatibilities of size sqrt(d_k)

    def weights(self, q_BHTK: Tensor, k_BHSK: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Return the softmax over the keys, [B, H, T, S], before any dropout."""
        hidden_BHTSK = torch.tanh(q_BHTK.unsqueeze(-2) + k_BHSK.unsqueeze(-3))
        scores_BHTS = (hidden_BHTSK @ self.energy[:, None, :, None]).squeeze(-1)
        scale = q_BHTK.size(-1) ** -0.5 if self.scaled else 1.0
        return masked_softmax(scores_BHTS * scale, allowed)


def whole_mask(q_BHTK: Tensor, k_BHSK: Tensor, visible: Visible) -> Tensor | None:
    """Draw the mask of all queries and all keys."""
    return visible.mask(range(q_BHTK.size(-2)), range(k_BHSK.size(-2)), q_BHTK.device)


def stored_keys(k_BHSK: Tensor, visible: Visible) -> bool:
    """Whether no query meets more keys than may be stored: a packed row's stay in their sentence."""
    if k_BHSK.size(-2) <= LONGEST_STORED:
        return True
    if visible.queries is None or visible.keys is None or not visible.packed:
        return False
    return longest_span(visible.queries, visible.keys) <= LONGEST_STORED


def sight(visible: Visible) -> Sight:
    """Say the same to the native kernel."""
    back = visible.before - visible.first if visible.window else EVERYWHERE
    ahead = visible.after + visible.first if visible.window or visible.causal else EVERYWHERE
    return Sight(visible.queries, visible.keys, back, ahead)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax over the last axis with exact zeros where ``allowed`` is False.

    A row in which nothing is allowed (the padding of a packed batch) comes out even, never NaN:
    the fill is the smallest number, not minus infinity.
    """
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(-1)


class MultiHeadAttention(nn.Module):
    """Concat(head_1, ..., head_h) W^O with head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V).

    Paper: section 3.2.2, equation 5. h, d_k and d_v are free: h d_v need not be d_model.

    Args:
        d_model: Width D of queries, memory and output.
        num_heads: H.
        d_k: Width of a head's queries and keys.
        d_v: Width of a head's values.
        bias: Biases in the four projections; the paper's equation has none.
        dropout: On the attention weights.
        compatibility: How a query meets a key.
        scaled: Divide compatibilities by sqrt(d_k).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_k: int,
        d_v: int,
        *,
        bias: bool = False,
        dropout: float = 0.0,
        compatibility: Literal["dot", "additive"] = "dot",
        scaled: bool = True,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = Linear(d_model, num_heads * d_k, bias=bias)
        self.key = Linear(d_model, num_heads * d_k, bias=bias)
        self.value = Linear(d_model, num_heads * d_v, bias=bias)
        self.output = Linear(num_heads * d_v, d_model, bias=bias)
        self.core = (
            DotProduct(scaled=scaled, dropout=dropout)
            if compatibility == "dot"
            else Additive(num_heads, d_k, scaled=scaled, dropout=dropout)
        )

    def split(self, x_BTF: Tensor) -> Tensor:
        """Cut [B, T, H * K] into heads, [B, H, T, K]."""
        return x_BTF.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def keys_values(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Project a memory once: keys [B, H, S, K] and values [B, H, S, V]."""
        keys, values = together(memory_BSD, (self.key, self.value))
        return self.split(keys), self.split(values)

    def queries_keys_values(self, x_BTD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project what asks itself: queries and keys [B, H, T, K] and values [B, H, T, V]."""
        queries, keys, values = together(x_BTD, (self.query, self.key, self.value))
        return self.split(queries), self.split(keys), self.split(values)

    def attend(self, query_BTD: Tensor, keys: Tensor, values: Tensor, visible: Visible) -> Tensor:
        """Attend from [B, T, D] to projected keys and values; returns [B, T, D]."""
        return self.join(self.core(self.split(self.query(query_BTD)), keys, values, visible))

    def join(self, heads_BHTV: Tensor) -> Tensor:
        """Concatenate the heads and map them to [B, T, D]."""
        return self.output(heads_BHTV.transpose(1, 2).flatten(2))

    def forward(
        self, query_BTD: Tensor, memory_BSD: Tensor, visible: Visible = EVERYTHING
    ) -> Tensor:
        """Attend from [B, T, D] to a memory [B, S, D].

        Args:
            query_BTD: What asks.
            memory_BSD: What is asked: the same tensor in self-attention.
            visible: Which query may attend to which key.

        Returns:
            [B, T, D].
        """
        if query_BTD is memory_BSD:
            return self.join(self.core(*self.queries_keys_values(query_BTD), visible))
        return self.attend(query_BTD, *self.keys_values(memory_BSD), visible)


class SelfAttention(nn.Module):
    """Queries, keys and values from the same place, full or restricted to a neighbourhood.

    Paper: section 3.2.3; restricted: section 4.

    Args:
        attention: The heads.
        causal: Position t sees no later position (the decoder's).
        window: r positions in all, centred, or the last r if causal; 0: all.
    """

    def __init__(
        self, attention: MultiHeadAttention, *, causal: bool = False, window: int = 0
    ) -> None:
        super().__init__()
        self.attention = attention
        self.causal = causal
        self.window = window

    def forward(self, x_BTD: Tensor, segments_BT: Tensor | None = None) -> Tensor:
        """Mix the positions of [B, T, D]."""
        visible = Visible(segments_BT, segments_BT, self.causal, self.window)
        return self.attention(x_BTD, x_BTD, visible)

    def step(self, x_N1D: Tensor, cache: dict[str, Any]) -> Tensor:
        """Mix one more position, [N, 1, D], with those whose keys and values the cache holds."""
        if not cache:
            cache["keys"], cache["values"] = Past(self.window), Past(self.window)
        query, keys, values = self.attention.queries_keys_values(x_N1D)
        keys, values = cache["keys"].append(keys), cache["values"].append(values)
        return self.attention.join(self.attention.core(query, keys, values, EVERYTHING))


def xavier(module: nn.Module) -> None:
    """Initialise every linear map as Glorot & Bengio (2010) do, biases with zero.

    The paper is silent; this is what the authors' code and its successors use.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
