"""What a decoder remembers between two steps; the search owns it, the modules keep nothing."""

from dataclasses import dataclass

from torch import Tensor


@dataclass
class DecoderState:
    """The state of a step-by-step decoding of B sentences with N = B x beams hypotheses.

    Attributes:
        layers: For each layer its mixer's tensors, rows (N) first.
        memory: For each layer the keys and values of the source, [B, H, S, K] and [B, H, S, V];
            computed once, shared by the beams of a sentence. Empty without an encoder.
        memory_segments: [B, S], 1 where a source position may be attended to; None: all.
        position: How many tokens have been read.
    """

    layers: list[dict[str, Tensor]]
    memory: list[tuple[Tensor, Tensor]]
    memory_segments: Tensor | None
    position: int = 0

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``; ``rows`` [N'] of the same sentence."""
        self.layers = [
            {name: value.index_select(0, rows) for name, value in layer.items()}
            for layer in self.layers
        ]

    def keep(self, sentences: Tensor) -> None:
        """Forget the memory of all sentences but these, [B']; `reorder` does it for hypotheses."""
        self.memory = [
            (keys.index_select(0, sentences), values.index_select(0, sentences))
            for keys, values in self.memory
        ]
        if self.memory_segments is not None:
            self.memory_segments = self.memory_segments.index_select(0, sentences)
