"""Multi-head attention, and the self-attention of a layer.

Shapes: B batch, T queries, S keys, D d_model, H heads, K d_k (queries and keys), V d_v (values),
N rows of a step (sentences x beams). Paper: section 3.2.
"""

from typing import Literal

from torch import Tensor, nn

from headway.model.attention_functions import EVERYTHING, Additive, DotProduct
from headway.model.decoder_cache import Cache, PositionCache
from headway.model.ops import Linear, operations_of
from headway.model.visibility import Segments, Visibility


class MultiHeadAttention(nn.Module):
    """Concat(head_1, ..., head_h) W^O with head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V).

    Paper: section 3.2.2. h, d_k and d_v are free: h d_v need not be d_model.

    Args:
        d_model: Width D of queries, memory and output.
        num_heads: H.
        d_k: Width of a head's queries and keys.
        d_v: Width of a head's values.
        bias: Biases in the four projections; the paper's formula has none.
        dropout: On the attention weights.
        compatibility: How a query meets a key.
        scaled: Divide compatibilities by sqrt(d_k).
    """

    LAST = "output"  # the matrix that `zero_outputs` sets to zero

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

    def project_memory(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Project a memory: keys [B, H, S, K] and values [B, H, S, V]."""
        keys, values = operations_of(memory_BSD).joined_linear(memory_BSD, (self.key, self.value))
        return self.split(keys), self.split(values)

    def project_self(self, x_BTD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project for self-attention: queries and keys [B, H, T, K] and values [B, H, T, V]."""
        maps = (self.query, self.key, self.value)
        queries, keys, values = operations_of(x_BTD).joined_linear(x_BTD, maps)
        return self.split(queries), self.split(keys), self.split(values)

    def attend(
        self, query_BTD: Tensor, keys: Tensor, values: Tensor, visibility: Visibility
    ) -> Tensor:
        """Attend from [B, T, D] to projected keys and values; returns [B, T, D]."""
        return self.join(self.core(self.split(self.query(query_BTD)), keys, values, visibility))

    def join(self, heads_BHTV: Tensor) -> Tensor:
        """Concatenate the heads and map them to [B, T, D]."""
        return self.output(heads_BHTV.transpose(1, 2).flatten(2))

    def forward(
        self, query_BTD: Tensor, memory_BSD: Tensor, visibility: Visibility = EVERYTHING
    ) -> Tensor:
        """Attend from [B, T, D] to a memory [B, S, D].

        Args:
            query_BTD: The queries' hidden states.
            memory_BSD: The keys' and values' hidden states: the same tensor in self-attention.
            visibility: Which query may attend to which key.

        Returns:
            [B, T, D].
        """
        if query_BTD is memory_BSD:
            return self.join(self.core(*self.project_self(query_BTD), visibility))
        return self.attend(query_BTD, *self.project_memory(memory_BSD), visibility)


class SelfAttention(nn.Module):
    """Attention whose queries, keys and values are the same positions, full or within a window.

    Paper: section 3.2.3; restricted to a window: section 4.

    Args:
        attention: The heads.
        causal: Position t attends to no later position (the decoder's).
        window: r positions in all, centered, or the last r if causal; 0: all.
    """

    def __init__(
        self, attention: MultiHeadAttention, *, causal: bool = False, window: int = 0
    ) -> None:
        super().__init__()
        self.attention = attention
        self.causal = causal
        self.window = window

    def forward(self, x_BTD: Tensor, segments: Segments | None = None) -> Tensor:
        """Mix the positions of [B, T, D]."""
        visibility = Visibility(segments, segments, self.causal, self.window)
        return self.attention(x_BTD, x_BTD, visibility)

    def step(self, x_N1D: Tensor, cache: Cache) -> Tensor:
        """Mix one more position, [N, 1, D], with those whose keys and values the cache holds."""
        query, keys, values = self.attention.project_self(x_N1D)
        if cache.beams is not None:
            sums = cache.beams.attend(self.attention.core, query, keys, values, self.window)
            return self.attention.join(sums)
        if cache.past is None:
            cache.past = PositionCache(self.window), PositionCache(self.window)
        past_keys, past_values = cache.past
        keys, values = past_keys.append(keys), past_values.append(values)
        return self.attention.join(self.attention.core(query, keys, values, EVERYTHING))
