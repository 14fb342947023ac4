"""How a query meets a key: scaled dot products, or a small network (additive attention).

Shapes: B batch, T queries, S keys, H heads, K d_k (queries and keys), V d_v (values).
Paper: section 3.2.1.
"""

import torch
from torch import Tensor, nn

from headway.model.ops import operations_of
from headway.model.plain_attention import attend_by_weights, dot_product_weights, masked_softmax
from headway.model.visibility import Visibility

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
        return dot_product_weights(q_BHTK, k_BHSK, allowed, score_scale(self, q_BHTK.size(-1)))

    def forward(
        self, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visibility: Visibility = EVERYTHING
    ) -> Tensor:
        """Return the weighted sums of the values, [B, H, T, V]."""
        scale, dropout = score_scale(self, q_BHTK.size(-1)), self.dropout if self.training else 0.0
        operations = operations_of(q_BHTK)
        return operations.attention(q_BHTK, k_BHSK, v_BHSV, visibility, scale, dropout)


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
        dropout = self.dropout if self.training else 0.0
        return attend_by_weights(self.weights, q_BHTK, k_BHSK, v_BHSV, visibility, dropout)


def score_scale(core: DotProduct | Additive, d_k: int) -> float:
    """Return the factor of the compatibilities of queries and keys."""
    return d_k**-0.5 if core.scaled else 1.0
