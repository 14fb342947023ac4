"""ByteNet: a decoder of dilated convolutions, unfolded over an encoder of the same.

Kalchbrenner, Espeholt, Simonyan, van den Oord, Graves & Kavukcuoglu, 2017, "Neural Machine Translation in
Linear Time", https://arxiv.org/abs/1610.10099. The paper of the Transformer names it in sections 2, 4 and
6.1.

Shapes: B batch, S source length, T target length, D d_model, N hypotheses.
"""

from typing import TypeVar

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.ext.kinds import Convolution
from headway.ext.paper.rivals.rival import Rival, RivalState, real_positions
from headway.model import Linear, Segments, SegmentsLike

DILATIONS = (1, 2, 4, 8, 16)  # of the blocks of a set: section 3.4

Length = TypeVar("Length", int, Tensor)


def unfolded_length(length: Length) -> Length:
    """Return ceil(a s + b) for a source of length s, with a = 6/5, for English to German, and b = 0 (section 3.2).

    In integers, because the float32 next to 1.2 is a little larger, and 25 times it would be rounded up to 31.
    """
    return (6 * length + 4) // 5


class DilatedBlock(nn.Module):
    """The residual block with ReLUs (section 3.5, Figure 3, left).

    Layer norm, ReLU and a map from D to D/2; layer norm, ReLU and the dilated convolution; layer norm,
    ReLU and a map from D/2 to D; plus the input.

    Args:
        width: D, twice the paper's d.
        kernel_size: k.
        dilation: Distance between neighboring taps.
        causal: Masked: read no later position (a decoder's).
    """

    def __init__(self, width: int, kernel_size: int, dilation: int, *, causal: bool) -> None:
        super().__init__()
        inner = width // 2
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in (width, inner, inner))
        self.narrow = Linear(width, inner)
        self.convolution = Convolution(inner, kernel_size, dilation=dilation, causal=causal)
        self.widen = Linear(inner, width)

    def forward(self, x_BTD: Tensor, segments: Segments | None = None) -> Tensor:
        """Transform [B, T, D]; a tap in padding reads zero."""
        first, second, third = self.norms
        y = self.narrow(first(x_BTD).relu())
        y = self.convolution(second(y).relu(), segments)
        return x_BTD + self.widen(third(y).relu())


class ByteNet(Rival):
    """Dilated convolutions on both sides, and no attention.

    It reads ``kernel_size``, and each side has one set of blocks, however many layers the Transformer has: with fewer
    dilations it would see little of a sentence. The paper does not say how a column of the encoder meets the embedding
    at the same place of the decoder: here they are added.
    """

    departs = (
        "subwords instead of characters; columns of the encoder are added to the decoder's embeddings; a step reads"
        " all tokens before it again; one of the paper's six sets of five blocks on each side; no dropout"
    )

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        width, k = config.d_model, config.kernel_size

        self.encoder, self.decoder = (
            nn.ModuleList(DilatedBlock(width, k, each, causal=causal) for each in DILATIONS)
            for causal in (False, True)
        )
        self.last = Linear(width, width)

    def start(self, source_BS: Tensor, source_segments: SegmentsLike = None) -> RivalState:
        """Encode a source of length s in ceil(a s) columns: dynamic unfolding, section 3.2.

        The columns after the source start from zeros, and those after ceil(a s) are absent.
        """
        real_BS = real_positions(source_BS, source_segments)
        column_U = torch.arange(unfolded_length(source_BS.size(1)), device=source_BS.device)
        inside_BU = column_U < unfolded_length(real_BS.sum(1))[:, None]
        embedded_BSD = self.source_embedding(source_BS) * real_BS[..., None]
        missing = len(column_U) - source_BS.size(1)
        x_BUD = nn.functional.pad(embedded_BSD, (0, 0, 0, missing))
        segments = Segments(inside_BU.long(), is_packed=False)
        for block in self.encoder:
            x_BUD = block(x_BUD, segments)
        return RivalState(columns=x_BUD * inside_BU[..., None])

    def decode(self, shifted_BT: Tensor, state: RivalState) -> Tensor:
        """Run the decoder on top of the encoder's columns; where those end, zeros take their place."""
        columns_BUD = state["columns"][:, : shifted_BT.size(1)]
        missing = shifted_BT.size(1) - columns_BUD.size(1)
        columns_BTD = nn.functional.pad(columns_BUD, (0, 0, 0, missing))
        x_BTD = self.target_embedding(shifted_BT) + columns_BTD
        for block in self.decoder:
            x_BTD = block(x_BTD)
        hidden_BTD: Tensor = self.last(x_BTD.relu()).relu()
        return hidden_BTD
