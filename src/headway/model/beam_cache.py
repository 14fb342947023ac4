"""Keys and values of a beam search whose tensors never change their shapes or addresses.

A hypothesis writes its keys and values into the column of its own beam, and no search moves them.
A table says which entries belong to the past of each hypothesis, so that a step reorders this small
table instead of the caches. All hypotheses of a sentence attend to all its entries, under that table
as a mask.

Shapes: B sentences, K beams of a sentence, N = B K hypotheses, H heads, T positions that the caches
have room for, W positions that a step reads, F width of a head.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from headway.model.attention_functions import Additive, DotProduct, score_scale
from headway.model.plain_attention import attend_with_mask, fused_attention


@dataclass
class BeamPast:
    """Which cached entries belong to the past of each hypothesis; the caches of all layers share it.

    Attributes:
        position: [1], how many tokens the hypotheses have read.
        ancestors_BKTK: `True` at [b, k, t, j] if hypothesis k continues what beam j wrote at position t.
        own_BK1K: `True` at [b, k, 0, k].
        span: W; the caller makes it at least as large as the position that a step writes, plus 1.
    """

    position: Tensor
    ancestors_BKTK: Tensor
    own_BK1K: Tensor
    span: int

    @classmethod
    def allocate(
        cls, sentences: int, beams: int, positions: int, device: torch.device
    ) -> "BeamPast":
        """Allocate the table for so many sentences, beams and positions; all is empty."""
        own_KK = torch.eye(beams, dtype=torch.bool, device=device)
        return cls(
            torch.zeros(1, dtype=torch.long, device=device),
            torch.zeros(sentences, beams, positions, beams, dtype=torch.bool, device=device),
            own_KK[None, :, None].repeat(sentences, 1, 1, 1),
            positions,
        )

    def begin_step(self) -> None:
        """Let each hypothesis see the entry that it is about to write."""
        self.ancestors_BKTK.index_copy_(2, self.position, self.own_BK1K)

    def end_step(self, rows_N: Tensor) -> None:
        """Let hypothesis i continue hypothesis ``rows_N[i]``, of the same sentence."""
        ancestors_NTK = self.ancestors_BKTK.flatten(0, 1)
        ancestors_NTK.copy_(ancestors_NTK.index_select(0, rows_N))
        self.position += 1

    def mask(self, window: int) -> Tensor:
        """Return which hypothesis may attend to which entry, [B, 1, K, W K].

        Args:
            window: Show only the last so many positions; 0: all.
        """
        allowed_BKWK = self.ancestors_BKTK[:, :, : self.span]
        if window:
            place_W1 = torch.arange(self.span, device=self.position.device)[:, None]
            allowed_BKWK = allowed_BKWK & (place_W1 > self.position - window)
        return allowed_BKWK.flatten(2)[:, None]


@dataclass
class BeamCache:
    """The keys and values of a self-attention; `Cache.beams` holds it.

    Attributes:
        past: Shared by all layers.
        keys_BHTKF: The keys, with the axes of position and beam next to each other.
        values_BHTKF: The values.
    """

    past: BeamPast
    keys_BHTKF: Tensor
    values_BHTKF: Tensor

    def attend(
        self,
        core: DotProduct | Additive,
        q_NH1F: Tensor,
        k_NH1F: Tensor,
        v_NH1F: Tensor,
        window: int,
    ) -> Tensor:
        """Store the keys and values of one more position, and attend to the past of each hypothesis.

        Args:
            core: How a query meets a key.
            q_NH1F: Queries of the new position.
            k_NH1F: Keys.
            v_NH1F: Values.
            window: See `BeamPast.mask`.

        Returns:
            The weighted sums of the values, [N, H, 1, F].
        """
        sentences, _, _, beams, _ = self.keys_BHTKF.shape
        for cache, new in ((self.keys_BHTKF, k_NH1F), (self.values_BHTKF, v_NH1F)):
            new_BHKF = new.unflatten(0, (sentences, beams)).squeeze(3).transpose(1, 2)
            cache.index_copy_(2, self.past.position, new_BHKF[:, :, None])
        q_BHKF = q_NH1F.unflatten(0, (sentences, beams)).squeeze(3).transpose(1, 2)
        keys, values = (
            cache[:, :, : self.past.span].flatten(2, 3)
            for cache in (self.keys_BHTKF, self.values_BHTKF)
        )
        mask = self.past.mask(window)
        if isinstance(core, DotProduct):
            scale = score_scale(core, q_BHKF.size(-1))
            sums = fused_attention(q_BHKF, keys, values, mask, scale)
        else:
            sums = attend_with_mask(core.weights, q_BHKF, keys, values, mask)
        return sums.transpose(1, 2).flatten(0, 1).unsqueeze(2)
