"""The parts around attention: feed-forward networks, residuals, layers and stacks.

Shapes: B batch, T positions, S source positions, D d_model, F d_ff, N rows of a step.
Paper: sections 3.1 and 3.3.
"""

from collections.abc import Callable
from itertools import zip_longest
from typing import Literal, Protocol, cast

from torch import Tensor, nn
from torch.nn import functional as F

from headway.model.attention import MultiHeadAttention
from headway.model.decoder_cache import Cache, DecoderState
from headway.model.ops import Dropout, Linear, operations_of
from headway.model.visibility import Segments, Visibility

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "swish": F.silu,
}


class Mixer(Protocol):
    """The sub-layer of a layer that mixes positions: self-attention, or a module in its place.

    A mixer never mixes the sentences of a packed row, nor reads padding. One for a decoder never
    reads a later position, and has `step`.
    """

    def __call__(self, x_BTD: Tensor, segments: Segments | None = None) -> Tensor:
        """Mix the positions of [B, T, D]; ``segments`` None: every row is one whole sentence."""

    def step(self, x_N1D: Tensor, cache: Cache) -> Tensor:
        """Mix one more position, [N, 1, D], with earlier ones.

        Args:
            x_N1D: The position's hidden states.
            cache: What this method stored there at earlier positions, empty at the first: tensors
                whose first axis is N. The search reorders their rows.
        """


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, the same at each position.

    Paper: section 3.3, equation 2.

    Args:
        d_model: D.
        d_ff: F.
        activation: Between the two maps; the paper's is relu.
        dropout: After the activation; the paper has none.
        convolution: The same function written as two convolutions of kernel size 1.
    """

    LAST = "outer"

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        convolution: bool = False,
    ) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.dropout = Dropout(dropout)
        self.convolution = convolution
        self.inner = Linear(d_model, d_ff)
        self.outer = Linear(d_ff, d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Map [B, T, D] to [B, T, D]."""
        if self.convolution:
            x_BDT = x_BTD.transpose(1, 2)
            x_BFT = F.conv1d(x_BDT, self.inner.weight[..., None], self.inner.bias)
            x_BFT = self.dropout(self.activation(x_BFT))
            return F.conv1d(x_BFT, self.outer.weight[..., None], self.outer.bias).transpose(1, 2)
        return self.outer(self.dropout(self.activation(self.inner(x_BTD))))


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), or x + Dropout(Sublayer(LayerNorm(x))) for pre-norm.

    Paper: sections 3.1 and 5.4 (post-norm).
    """

    def __init__(
        self, d_model: int, *, norm: Literal["post", "pre"], dropout: float, epsilon: float
    ) -> None:
        super().__init__()
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(d_model, eps=epsilon)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Wrap ``sublayer``, which keeps the shape of x, [..., D]."""
        if self.pre:
            return x + self.dropout(sublayer(self.norm(x)))
        norm, p = self.norm, self.dropout.p if self.training else 0.0
        add_norm = operations_of(x).add_norm
        return add_norm(x, sublayer(x), norm.weight, norm.bias, norm.eps, p)


class Layer(nn.Module):
    """A layer of any stack: a mixer, attention to a memory if it has one, and a feed-forward.

    Paper: section 3.1.

    Args:
        mixer: Self-attention or a module in its place.
        cross: Encoder-decoder attention; None in an encoder and in a language model.
        feed_forward: The position-wise network.
        residuals: One for each of the above, in that order.
    """

    def __init__(
        self,
        mixer: Mixer,
        cross: MultiHeadAttention | None,
        feed_forward: FeedForward,
        residuals: list[Residual],
    ) -> None:
        super().__init__()
        self.mixer = mixer
        self.cross = cross
        self.feed_forward = feed_forward
        self.residuals = nn.ModuleList(residuals)

    def forward(
        self,
        x_BTD: Tensor,
        segments: Segments | None = None,
        memory_BSD: Tensor | None = None,
        memory_segments: Segments | None = None,
    ) -> Tensor:
        """Transform [B, T, D]; a layer with cross-attention reads the memory."""
        around_mixer, *around_cross, around_feed_forward = self.residuals
        x_BTD = around_mixer(x_BTD, lambda y: self.mixer(y, segments))
        if self.cross is not None and memory_BSD is not None:
            cross, memory = self.cross, memory_BSD
            visibility = Visibility(segments, memory_segments)
            x_BTD = around_cross[0](x_BTD, lambda y: cross(y, memory, visibility))
        return around_feed_forward(x_BTD, self.feed_forward)

    def step(
        self,
        x_N1D: Tensor,
        cache: Cache,
        memory: tuple[Tensor, Tensor] | None,
        memory_segments: Segments | None,
    ) -> Tensor:
        """Transform one more position, [N, 1, D]."""
        around_mixer, *around_cross, around_feed_forward = self.residuals
        x_N1D = around_mixer(x_N1D, lambda y: self.mixer.step(y, cache))
        if self.cross is not None and memory is not None:
            cross, (keys, values) = self.cross, memory
            visibility = Visibility(None, memory_segments)
            # The beams of a sentence are queries on its one memory: [B, beams, D].
            x_N1D = around_cross[0](
                x_N1D,
                lambda y: cross.attend(
                    y.view(keys.size(0), -1, y.size(2)), keys, values, visibility
                ).view_as(y),
            )
        return around_feed_forward(x_N1D, self.feed_forward)


class Stack(nn.Module):
    """N layers; pre-norm stacks end in one more layer norm, post-norm stacks do not.

    Paper: section 3.1.
    """

    layers: list[Layer]

    def __init__(self, layers: list[Layer], final_norm: nn.LayerNorm | None) -> None:
        super().__init__()
        self.layers = cast("list[Layer]", nn.ModuleList(layers))
        self.final_norm = final_norm

    def forward(
        self,
        x_BTD: Tensor,
        segments: Segments | None = None,
        memory_BSD: Tensor | None = None,
        memory_segments: Segments | None = None,
    ) -> Tensor:
        """Pass [B, T, D] through all layers."""
        for layer in self.layers:
            x_BTD = layer(x_BTD, segments, memory_BSD, memory_segments)
        return x_BTD if self.final_norm is None else self.final_norm(x_BTD)

    def start(
        self, memory_BSD: Tensor | None = None, memory_segments: Segments | None = None
    ) -> DecoderState:
        """Begin to decode step by step; the memory's keys and values are computed here, once."""
        memory = [
            layer.cross.project_memory(memory_BSD)
            for layer in self.layers
            if layer.cross is not None and memory_BSD is not None
        ]
        return DecoderState([Cache() for _ in self.layers], memory, memory_segments)

    def step(self, x_N1D: Tensor, state: DecoderState) -> Tensor:
        """Pass one more position, [N, 1, D], through all layers; ``state`` changes in place."""
        for layer, cache, memory in zip_longest(self.layers, state.layers, state.memory):
            x_N1D = layer.step(x_N1D, cache, memory, state.memory_segments)
        state.position += 1
        return x_N1D if self.final_norm is None else self.final_norm(x_N1D)
