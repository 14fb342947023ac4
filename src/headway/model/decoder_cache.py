"""What a decoder remembers between two steps; the search owns it, the modules keep nothing.

Plain steps append keys and values to storage that grows (`PositionCache`), and a search reorders its rows.
`BeamCache` is for a beam search whose tensors never change their shapes or addresses: a hypothesis writes
into the column of its own beam, and no search moves what is written. A table says which entries belong
to the past of each hypothesis, so that a step reorders this small table instead of the caches. All
hypotheses of a sentence attend to all its entries, under that table as a mask.

Shapes: B sentences, K beams of a sentence, N = B K rows of a step, H heads, F width of a head (K for
plain steps), S source positions, T positions that fixed caches have room for, W positions that a
step reads.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from headway.model.attention_functions import Additive, DotProduct, score_scale
from headway.model.plain_attention import attend_with_mask, fused_attention
from headway.model.visibility import Segments


class PositionCache:
    """The keys, or the values, of the positions read so far, written in place.

    The storage doubles whenever it is full. With a window the newest position overwrites the
    oldest: attention does not depend on the order of its keys.

    Args:
        window: Hold no more positions than these; 0: all.
    """

    def __init__(self, window: int = 0) -> None:
        self.window = window
        self.length = 0  # positions read; with a window more than are held
        self.storage_NHCK: Tensor | None = None

    def __len__(self) -> int:
        """Return the number of rows, N."""
        return 0 if self.storage_NHCK is None else len(self.storage_NHCK)

    def append(self, x_NH1K: Tensor) -> Tensor:
        """Add a position and return all that are held, [N, H, positions, K]."""
        capacity = 0 if self.storage_NHCK is None else self.storage_NHCK.size(2)
        if self.length == capacity and (capacity < self.window or not self.window):
            self._grow(x_NH1K, max(16, 2 * capacity))
        assert self.storage_NHCK is not None
        place = self.length % self.window if self.window else self.length
        self.storage_NHCK[:, :, place] = x_NH1K[:, :, 0]
        self.length += 1
        return self.storage_NHCK[:, :, : self.length]

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue row ``rows[i]``; [N']."""
        if self.storage_NHCK is not None:
            self.storage_NHCK = self.storage_NHCK.index_select(0, rows)

    def _grow(self, like_NH1K: Tensor, capacity: int) -> None:
        rows, heads, _, width = like_NH1K.shape
        capacity = min(capacity, self.window) if self.window else capacity
        larger_NHCK = like_NH1K.new_empty(rows, heads, capacity, width)
        if self.storage_NHCK is not None:
            larger_NHCK[:, :, : self.length] = self.storage_NHCK
        self.storage_NHCK = larger_NHCK


class Cache(dict[str, Tensor]):
    """What one mixer remembers: tensors by name, whose first axis is N.

    Attributes:
        past: The keys and the values of self-attention, which are written in place; None: a mixer of
            another kind, or no position yet.
        beams: The same for a search with fixed shapes, which sets it before the first step.
    """

    past: tuple[PositionCache, PositionCache] | None = None
    beams: "BeamCache | None" = None

    def num_rows(self) -> int:
        """Return N, or 0 if nothing is stored yet."""
        if self.past is not None:
            return len(self.past[0])
        return len(next(iter(self.values()), ()))

    def reorder(self, rows: Tensor) -> None:
        """Let row i continue row ``rows[i]``; [N']."""
        self.update({name: tensor.index_select(0, rows) for name, tensor in self.items()})
        for positions in self.past or ():
            positions.reorder(rows)


@dataclass
class DecoderState:
    """The state of a step-by-step decoding of B sentences with N = B x beams hypotheses.

    Attributes:
        layers: For each layer the cache of its mixer, rows (N) first.
        memory: For each layer the keys and values of the source, [B, H, S, K] and [B, H, S, V],
            which the beams of a sentence share. Empty without an encoder.
        memory_segments: [B, S], 1 where a source position may be attended to; None: everywhere.
        position: How many tokens have been read.
    """

    layers: list[Cache]
    memory: list[tuple[Tensor, Tensor]]
    memory_segments: Segments | None
    position: int = 0

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``; ``rows`` [N'], of the same sentence."""
        num_rows = max((cache.num_rows() for cache in self.layers), default=0)
        if not num_rows or torch.equal(rows, torch.arange(num_rows, device=rows.device)):
            return
        for cache in self.layers:
            cache.reorder(rows)

    def keep(self, sentences: Tensor) -> None:
        """Keep the memory of these sentences only, [B']; `reorder` does so for hypotheses."""
        self.memory = [
            (keys.index_select(0, sentences), values.index_select(0, sentences))
            for keys, values in self.memory
        ]
        if self.memory_segments is not None:
            self.memory_segments = self.memory_segments.select(sentences)


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
