"""The initial values of linear maps; embeddings and positions set their own."""

import torch
from torch import nn


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
