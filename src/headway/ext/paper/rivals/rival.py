"""What a rival of the Transformer has: an encoder and a decoder, read at once or step by step.

Shapes: B batch, S source length, T target length, D d_model, V vocabulary, N hypotheses.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.model import Embedding, Linear, Segments, SegmentsLike, shift_right


class RivalState(dict[str, Tensor]):
    """What a rival's decoder remembers: tensors with a row for each hypothesis, also those of the source.

    Each hypothesis has a copy of its source's tensors. The core shares one among all hypotheses of a
    sentence, which is faster; here simplicity counts.
    """

    def repeat(self, beams: int) -> "RivalState":
        """Return the state of ``beams`` hypotheses for each of the rows."""
        return RivalState(
            {name: tensor.repeat_interleave(beams, 0) for name, tensor in self.items()}
        )

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``; [N']."""
        self.update({name: tensor.index_select(0, rows) for name, tensor in self.items()})

    def keep(self, sentences: Tensor) -> None:
        """Do nothing: the `reorder` that follows drops the hypotheses of the other sentences."""


class Rival(nn.Module, ABC):
    """An encoder-decoder that the package's trainer and search can use as they use the Transformer.

    Rows hold one sentence each, padded on the right; packed rows are refused.

    Args:
        config: Its vocabulary sizes, ``d_model`` and numbers of layers count; ``dropout`` where the
            rival's paper has dropout. Each rival says what else it reads.

    Attributes:
        departs: What differs from the rival's own paper, for the reader of a report.
    """

    departs: ClassVar[str]

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width = config.d_model
        self.source_embedding = Embedding(config.source_vocab_size, width, width, scale=1.0)
        self.target_embedding = Embedding(config.target_vocab_size, width, width, scale=1.0)
        self.output: nn.Linear = Linear(width, config.target_vocab_size)

    def forward(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return logits, [B, T, V]; the arguments are those of `Transformer.forward`."""
        return self.logits(self.hidden(source_BS, target_BT, source_segments, target_segments))

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to logits [..., V]."""
        logits: Tensor = self.output(hidden)
        return logits

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return the states before the softmax, [B, T, D]; no state reads its own or a later target."""
        shifted_BT = shift_right(target_BT, self.config.target_vocab_size - 1)
        return self.decode(shifted_BT, self.start(source_BS, source_segments))

    @abstractmethod
    def start(self, source_BS: Tensor, source_segments: SegmentsLike = None) -> RivalState:
        """Encode sentences; returns the state before the first target token."""

    @abstractmethod
    def decode(self, shifted_BT: Tensor, state: RivalState) -> Tensor:
        """Read target tokens from the beginning; returns the states before the softmax, [B, T, D].

        Args:
            shifted_BT: The tokens, ``<pad>`` (the last id, whose embedding is zero) first.
            state: From `start`.
        """

    def step(self, tokens_N: Tensor, state: RivalState) -> Tensor:
        """Read a token for each hypothesis and return the next logits, [N, V]; ``state`` changes.

        The decoder reads the tokens before it again, unless a rival has a better way.

        Args:
            tokens_N: The last tokens; ``<pad>`` at the start.
            state: From `start`.
        """
        before = [state["read"]] if "read" in state else []
        state["read"] = torch.cat((*before, tokens_N[:, None]), 1)
        return self.logits(self.decode(state["read"], state)[:, -1])


def real_positions(source_BS: Tensor, segments: SegmentsLike) -> Tensor:
    """Return where the source has tokens and no padding, [B, S].

    Raises:
        ValueError: If rows are packed.
    """
    segments = Segments.of(segments, source_BS)
    if segments is None:
        return torch.ones_like(source_BS, dtype=torch.bool)
    if segments.is_packed:
        raise ValueError("a rival reads rows of one sentence: training.packed must be false")
    return segments.ids != 0
