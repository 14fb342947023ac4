"""Mixers in place of self-attention: recurrent and convolutional (paper: section 4, Table 1).

Shapes: B batch, T positions, D d_model, R sentences, L longest sentence, N rows of a step.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.model import Cache, Linear, Segments


class Recurrent(nn.Module):
    """An LSTM or GRU layer; outside a decoder, one in each direction of d_model / 2 each.

    Args:
        d_model: Width D of input and output; even unless causal.
        cell: The recurrence.
        causal: Run forwards only (a decoder's).
    """

    def __init__(self, d_model: int, cell: Literal["lstm", "gru"], *, causal: bool = False) -> None:
        super().__init__()
        kind = nn.LSTM if cell == "lstm" else nn.GRU
        width = d_model if causal else d_model // 2
        self.cell = kind(d_model, width, batch_first=True, bidirectional=not causal)

    def forward(self, x_BTD: Tensor, segments: Segments | None = None) -> Tensor:
        """Run over every sentence of [B, T, D] from a fresh state; padding gives zeros."""
        if segments is None:
            return self.cell(x_BTD)[0]
        # One row a sentence, so that no state crosses from one to the next or into padding.
        inside_BT = segments.ids != 0
        place_BT = segments.positions()
        row = ((place_BT == 0) & inside_BT).flatten().cumsum(0).view_as(place_BT)[inside_BT] - 1
        place = place_BT[inside_BT]
        lengths_R = torch.bincount(row)
        x_RLD = x_BTD.new_zeros(len(lengths_R), int(lengths_R.max()), x_BTD.size(2))
        x_RLD = x_RLD.index_put((row, place), x_BTD[inside_BT])
        packed = nn.utils.rnn.pack_padded_sequence(
            x_RLD, lengths_R.cpu(), batch_first=True, enforce_sorted=False
        )
        y_RLD, _ = nn.utils.rnn.pad_packed_sequence(self.cell(packed)[0], batch_first=True)
        zeros_BTD = torch.zeros_like(x_BTD, dtype=y_RLD.dtype)  # autocast may change the type
        return zeros_BTD.masked_scatter(inside_BT[..., None], y_RLD[row, place])

    def step(self, x_N1D: Tensor, cache: Cache) -> Tensor:
        """Run one more position, [N, 1, D], from the state in the cache."""
        # torch's states are [layers, N, D]; the cache's first axis is N. An LSTM has two.
        before = [state.transpose(0, 1).contiguous() for state in cache.values()]
        y_N1D, after = self.cell(x_N1D, *([tuple(before)] if before[1:] else before))
        states = after if isinstance(after, tuple) else (after,)
        cache.update({str(n): state.transpose(0, 1) for n, state in enumerate(states)})
        return y_N1D


class Convolution(nn.Module):
    """A convolution of kernel k over positions: centered, or over the last k if causal.

    Separable: a filter per channel, then a map across channels (Chollet, 2016). Gated: half of the
    output channels gate the other half (Dauphin et al., 2016). Paper: section 4.

    Args:
        d_model: Width D of input and output.
        kernel_size: k; odd unless causal.
        dilation: Distance between neighboring taps.
        separable: Depthwise, then pointwise.
        gated: Gated linear units.
        causal: No tap reaches a later position.
    """

    LAST = "output"

    def __init__(
        self,
        d_model: int,
        kernel_size: int,
        *,
        dilation: int = 1,
        separable: bool = False,
        gated: bool = False,
        causal: bool = False,
    ) -> None:
        super().__init__()
        self.gated = gated
        self.reach = (kernel_size - 1) * dilation  # from the first tap to the last
        ahead = 0 if causal else self.reach // 2
        self.offsets = [tap * dilation - self.reach + ahead for tap in range(kernel_size)]
        width = 2 * d_model if gated else d_model
        if separable:
            self.filters = nn.Parameter(torch.empty(kernel_size, d_model))
            nn.init.uniform_(self.filters, -(3**0.5) / kernel_size**0.5, (3 / kernel_size) ** 0.5)
            self.output = Linear(d_model, width)
        else:
            self.register_parameter("filters", None)
            self.output = Linear(kernel_size * d_model, width)

    def mix(self, taps: list[Tensor]) -> Tensor:
        """Combine the inputs of all taps, k tensors of [B, T, D], into [B, T, D]."""
        if self.filters is None:
            y_BTD = self.output(torch.cat(taps, -1))
        else:
            y_BTD = self.output((torch.stack(taps, -2) * self.filters).sum(-2))
        return F.glu(y_BTD, -1) if self.gated else y_BTD

    def forward(self, x_BTD: Tensor, segments: Segments | None = None) -> Tensor:
        """Convolve [B, T, D]; a tap outside a position's own sentence reads zero."""
        return self.mix([shift(x_BTD, offset, segments) for offset in self.offsets])

    def step(self, x_N1D: Tensor, cache: Cache) -> Tensor:
        """Convolve one more position, [N, 1, D], with the last inputs in the cache."""
        rows, _, width = x_N1D.shape
        before_NLD = cache["inputs"] if cache else x_N1D.new_zeros(rows, self.reach, width)
        inputs_NLD = torch.cat((before_NLD, x_N1D), 1)
        cache["inputs"] = inputs_NLD[:, 1:]
        return self.mix([inputs_NLD[:, self.reach + offset, None] for offset in self.offsets])


def shift(x_BTD: Tensor, offset: int, segments: Segments | None) -> Tensor:
    """Return x[:, t + offset] at t, and zero where that is another sentence or no position."""
    length = x_BTD.size(1)
    if abs(offset) >= length:
        return torch.zeros_like(x_BTD)
    pad = (-min(offset, 0), max(offset, 0))
    y_BTD = F.pad(x_BTD, (0, 0, *pad))[:, pad[1] : pad[1] + length]
    if segments is None:
        return y_BTD
    here_BT = segments.ids
    there_BT = F.pad(here_BT, pad)[:, pad[1] : pad[1] + length]
    return y_BTD * ((there_BT == here_BT) & (here_BT != 0))[..., None]


def make_recurrent(config: ModelConfig, index: int, *, causal: bool) -> Recurrent:
    """Return the LSTM or GRU of a layer; see `headway.extension.Extension.mixers`."""
    cell = config.decoder_mixer if causal else config.encoder_mixer
    return Recurrent(config.d_model, "lstm" if cell == "lstm" else "gru", causal=causal)


def make_convolution(config: ModelConfig, index: int, *, causal: bool) -> Convolution:
    """Return the convolution of a layer; see `headway.extension.Extension.mixers`.

    The taps of a dilated one are as far apart as the layer below reaches: log_k(n) layers.
    """
    kind = config.decoder_mixer if causal else config.encoder_mixer
    return Convolution(
        config.d_model,
        config.kernel_size,
        dilation=config.kernel_size**index if kind == "dilated" else 1,
        separable=kind == "separable",
        gated=config.gated,
        causal=causal,
    )
