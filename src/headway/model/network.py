"""What training and model directories know of a model of any kind."""

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.model.visibility import SegmentsLike


class Network(nn.Module):
    """A model that the one objective of training trains: a translator, or a kind that an extension brings.

    Attributes:
        config: Its shape.
        has_labels: Whether the target of a text is one label, which `forward` scores from the source alone.
    """

    config: ModelConfig
    has_labels = False

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return the last hidden states of each target, [B, T, D].

        Args:
            source_BS: Source ids, [B, S].
            target_BT: Target ids, [B, T].
            source_segments: [B, S]; 0 is padding, n the n-th sentence of a packed row; None: all 1.
            target_segments: [B, T], the same.
        """
        raise NotImplementedError

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to logits [..., V]."""
        raise NotImplementedError


def parameter_count(model: nn.Module) -> int:
    """Count the parameters; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def initialize_linear_maps(module: nn.Module) -> None:
    """Initialize every linear map as Glorot & Bengio (2010) do, biases with zero.

    The paper does not say how; the authors' code does so.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


@torch.no_grad()
def zero_outputs(module: nn.Module) -> None:
    """Set the last matrix of each attention, convolution and feed-forward network to zero.

    Then the sub-layers add nothing at first, and the model begins with its embeddings alone; an LSTM or GRU has no
    such matrix, and adds something. The paper does not do this; it is usual for residual networks (Zhang et
    al., 2019, "Fixup Initialization").
    """
    for part in module.modules():
        if name := getattr(part, "LAST", ""):
            getattr(part, name).weight.zero_()
