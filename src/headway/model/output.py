"""The map from a decoder's hidden states to logits.

Shapes: D d_model, E d_embedding, V vocabulary. Paper: section 3.4.
"""

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.model.ops import Linear, operations_of


class Output(nn.Module):
    """The linear map before the softmax: tied to an embedding, or with a matrix of its own.

    Paper: section 3.4.

    Args:
        config: Its tying, widths, ``scale_logits`` and ``output_bias`` count.
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
        """Map [..., D] to logits [..., V], by ``tied`` [V, E] unless it has its own matrix."""
        if self.reduce is not None:
            hidden = self.reduce(hidden)
        weight = tied if self.weight is None else self.weight
        hidden = hidden * self.scale if self.scale != 1 else hidden
        return operations_of(hidden).linear(hidden, weight, self.bias)
