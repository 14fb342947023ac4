"""What a decoder remembers between two steps; the search owns it, the modules keep nothing.

Shapes: B sentences, N rows of a step (sentences x beams), H heads, K width of a head, S source
positions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from headway.model.beam_cache import BeamCache
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
    beams: BeamCache | None = None

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
