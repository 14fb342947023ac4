"""Modules that call a replaceable operation alone: linear maps and dropout."""

from torch import Tensor, nn

from headway.model.ops import operations_of


class Linear(nn.Linear):
    """torch's own module, with the linear map of the input's device."""

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., I] to [..., O]."""
        return operations_of(x).linear(x, self.weight, self.bias)


class Dropout(nn.Module):
    """Dropout while training (paper: section 5.4).

    Args:
        p: Probability that an element is set to zero.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to [..., D]."""
        return operations_of(x).dropout(x, self.p) if self.training else x
