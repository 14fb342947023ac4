"""The Extended Neural GPU: convolutions that update an image again and again, and no attention.

Kaiser & Bengio, 2016, "Can Active Memory Replace Attention?", https://arxiv.org/abs/1610.08613. The paper of
the Transformer names it in section 2. The encoder is the Neural GPU of Kaiser & Sutskever, 2016,
https://arxiv.org/abs/1511.08228.

Shapes: B batch, S source length, T target length, N hypotheses, R rows of the image, C its columns, D its
maps: the width of the embeddings.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.ext.paper.rivals.rival import Rival, RivalState, real_positions
from headway.model import SegmentsLike

KERNEL = 3
COLUMNS = 2
LAYERS = 2  # l: units that one step applies in turn
OPEN = 1.0  # the first bias of the gates, with which a unit keeps most of the image


class ConvolutionalUnit(nn.Module):
    """A convolutional gated recurrent unit (CGRU), which updates every place of an image at once.

    s' = u * s + (1 - u) * tanh(U conv (r * s) + W conv p + B), u = sigma(U' conv s + W' conv p + B') and
    r = sigma(U'' conv s + W'' conv p + B''); the terms of the tape p are the decoder's.

    Args:
        maps: D.
        reads_tape: Whether there is a tape.
    """

    def __init__(self, maps: int, *, reads_tape: bool) -> None:
        super().__init__()
        self.gates = nn.Conv2d(maps, 2 * maps, KERNEL, padding="same")  # U' and U''
        self.candidate = nn.Conv2d(maps, maps, KERNEL, padding="same")  # U
        nn.init.constant_(self.gates.get_parameter("bias"), OPEN)
        nn.init.zeros_(self.candidate.get_parameter("bias"))
        self.tape = None
        if reads_tape:
            self.tape = nn.Conv2d(maps, 3 * maps, KERNEL, padding="same", bias=False)  # W', W'', W

    def forward(self, image_NDRC: Tensor, tape_NDRC: Tensor | None = None) -> Tensor:
        """Return the next image."""
        gates = self.gates(image_NDRC)
        candidate: Tensor | float = 0.0
        if self.tape is not None:
            *of_gates, candidate = self.tape(tape_NDRC).chunk(3, 1)
            gates = gates + torch.cat(of_gates, 1)
        u, r = gates.sigmoid().chunk(2, 1)
        return u * image_NDRC + (1 - u) * (self.candidate(r * image_NDRC) + candidate).tanh()


class NeuralGPU(Rival):
    """An image that the source is written into, and a tape beside it for the target.

    Tokens stand in the first column, one in a row. The encoder updates the image once for each source
    token; the decoder updates it once for each target token, and reads all target tokens before from
    the tape.

    The image has half of ``d_model`` maps, because each position is computed anew in each step. It has
    rows for a target of 1.5 times the source's length and 4 more. Where a target is longer, its tokens
    find no place: a zero vector is read for them.
    """

    departs = (
        "half of the width (d_model / 2 maps); an image of two columns, as long as the source needs, where the"
        " authors' code has four columns and buckets of lengths; none of the dropout and of the gates with a cut-off"
        " that this code has"
    )

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(replace(config, d_model=config.d_model // 2, num_heads=1))
        maps = self.config.d_model
        self.encoder = nn.ModuleList(
            ConvolutionalUnit(maps, reads_tape=False) for _ in range(LAYERS)
        )
        self.decoder = nn.ModuleList(
            ConvolutionalUnit(maps, reads_tape=True) for _ in range(LAYERS)
        )

    def start(self, source_BS: Tensor, source_segments: SegmentsLike = None) -> RivalState:
        """Write the source into the image, and update it as often as the source has tokens."""
        real_BS = real_positions(source_BS, source_segments)
        length_B = real_BS.sum(1)
        rows_B = (1.5 * length_B).ceil().long() + 4
        row_R = torch.arange(int(rows_B.max()), device=source_BS.device)
        inside_BR = row_R < rows_B[:, None]
        embedded_BSD = self.source_embedding(source_BS) * real_BS[..., None]
        missing = 0, COLUMNS - 1, 0, len(row_R) - source_BS.size(1)
        image_BDRC = nn.functional.pad(embedded_BSD.transpose(1, 2)[..., None], missing)
        for step in range(source_BS.size(1)):
            ahead_BDRC = self._update(self.encoder, image_BDRC, inside_BR)
            is_due_B111 = (step < length_B)[:, None, None, None]
            image_BDRC = torch.where(is_due_B111, ahead_BDRC, image_BDRC)
        return RivalState(
            image=image_BDRC,
            tape=torch.zeros_like(image_BDRC),
            inside=inside_BR,
            place=torch.zeros_like(length_B),
        )

    def decode(self, shifted_BT: Tensor, state: RivalState) -> Tensor:
        """Return what each step reads from its row, [B, T, D]."""
        embedded_BTD = self.target_embedding(shifted_BT)
        return torch.stack([self._advance(token, state) for token in embedded_BTD.unbind(1)], 1)

    def step(self, tokens_N: Tensor, state: RivalState) -> Tensor:
        """Read one more token; see `Rival.step`."""
        return self.logits(self._advance(self.target_embedding(tokens_N), state))

    def _advance(self, embedded_ND: Tensor, state: RivalState) -> Tensor:
        """Write the last token into its row of the tape, update the image, and read the next row."""
        row_R = torch.arange(state["inside"].size(1), device=embedded_ND.device)
        is_last_NR = row_R == state["place"][:, None] - 1
        is_next_NR = row_R == state["place"][:, None]
        written_NDR = embedded_ND[..., None] * is_last_NR[:, None]
        written_NDRC = nn.functional.pad(written_NDR[..., None], (0, COLUMNS - 1))
        state["tape"] = state["tape"] + written_NDRC
        state["image"] = self._update(self.decoder, state["image"], state["inside"], state["tape"])
        state["place"] = state["place"] + 1
        return (state["image"][..., 0] * is_next_NR[:, None]).sum(-1)

    @staticmethod
    def _update(
        units: nn.ModuleList, image: Tensor, inside_NR: Tensor, tape: Tensor | None = None
    ) -> Tensor:
        """Apply the units in turn; rows beyond an image's end stay zero."""
        for unit in units:
            image = unit(image, tape) * inside_NR[:, None, :, None]
        return image
