"""What a decoder remembers between two steps; the search owns it, the modules keep nothing."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


class Past:
    """The keys, or the values, of the positions read so far, written in place.

    There is room for twice as many whenever it runs out. With a window the newest position takes
    the place of the oldest: attention does not ask in which order its keys lie.

    Args:
        window: Hold no more positions than these; 0: all.
    """

    def __init__(self, window: int = 0) -> None:
        self.window = window
        self.length = 0  # positions read, not held
        self.room_NHCK: Tensor | None = None

    def __len__(self) -> int:
        """How many rows (N) there are."""
        return 0 if self.room_NHCK is None else len(self.room_NHCK)

    def append(self, x_NH1K: Tensor) -> Tensor:
        """Add a position and return all that are held, [N, H, positions, K]."""
        room = 0 if self.room_NHCK is None else self.room_NHCK.size(2)
        if self.length == room and (room < self.window or not self.window):
            self._make_room(x_NH1K, max(16, 2 * room))
        assert self.room_NHCK is not None
        place = self.length % self.window if self.window else self.length
        self.room_NHCK[:, :, place] = x_NH1K[:, :, 0]
        self.length += 1
        return self.room_NHCK[:, :, : self.length]

    def index_select(self, dim: int, rows: Tensor) -> "Past":
        """Return the past of these rows, [N']: what a tensor with rows first would."""
        chosen = Past(self.window)
        chosen.length = self.length
        if self.room_NHCK is not None:
            chosen.room_NHCK = self.room_NHCK.index_select(dim, rows)
        return chosen

    def _make_room(self, like_NH1K: Tensor, room: int) -> None:
        rows, heads, _, width = like_NH1K.shape
        room = min(room, self.window) if self.window else room
        larger_NHCK = like_NH1K.new_empty(rows, heads, room, width)
        if self.room_NHCK is not None:
            larger_NHCK[:, :, : self.length] = self.room_NHCK
        self.room_NHCK = larger_NHCK


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

    layers: list[dict[str, Any]]
    memory: list[tuple[Tensor, Tensor]]
    memory_segments: Tensor | None
    position: int = 0

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``; ``rows`` [N'] of the same sentence."""
        held = next((value for layer in self.layers for value in layer.values()), None)
        if held is None or torch.equal(rows, torch.arange(len(held), device=rows.device)):
            return
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
