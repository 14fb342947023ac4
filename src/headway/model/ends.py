"""The two ends of a model: token embeddings before its stacks, the map to logits behind them.

Shapes: B batch, T target length, D d_model, E d_embedding, V vocabulary. Paper: sections 3.1 and 3.4.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.kernels.linear import Linear, linear
from headway.model.embeddings import Embedding
from headway.model.mixers import positions_in_segments


def token_embedding(config: ModelConfig, vocab_size: int) -> Embedding:
    """Make the embedding of a vocabulary that the configuration asks for."""
    scale = config.d_model**0.5 if config.scale_embeddings else 1.0
    return Embedding(vocab_size, config.d_embedding or config.d_model, config.d_model, scale=scale)


def shift_right(target_BT: Tensor, pad: int, segments_BT: Tensor | None = None) -> Tensor:
    """Offset the target by one position: each sentence of a row starts from ``pad``.

    Paper: section 3.1, "output embeddings are offset by one position".
    """
    shifted_BT = F.pad(target_BT[:, :-1], (1, 0), value=pad)
    if segments_BT is None:
        return shifted_BT
    return shifted_BT.masked_fill(positions_in_segments(segments_BT) == 0, pad)


class Output(nn.Module):
    """The linear map before the softmax: tied to an embedding, or with a matrix of its own.

    Paper: section 3.4.

    Args:
        config: Its tying, widths, ``scale_logits`` and ``output_bias``.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, vocab_size = config.d_embedding or config.d_model, config.target_vocab_size
        self.scale = config.d_model**-0.5 if config.scale_logits else 1.0
        self.reduce = None if width == config.d_model else Linear(config.d_model, width, bias=False)
        self.weight = (
            nn.Parameter(torch.empty(vocab_size, width)) if config.tying == "none" else None
        )
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if config.output_bias else None
        if self.weight is not None:
            nn.init.normal_(self.weight, std=width**-0.5)

    def forward(self, hidden: Tensor, tied: Tensor) -> Tensor:
        """Map [..., D] to logits [..., V], with the matrix ``tied`` [V, E] unless it has its own."""
        if self.reduce is not None:
            hidden = self.reduce(hidden)
        weight = tied if self.weight is None else self.weight
        return linear(hidden * self.scale if self.scale != 1 else hidden, weight, self.bias)
