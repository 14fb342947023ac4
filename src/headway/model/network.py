"""What training and model directories know of a model of any kind."""

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
