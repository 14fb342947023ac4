"""Where the sentences of packed rows begin, as numbers of one shape, made on the CPU with the batch.

A GPU wants the same shapes in every step, and none of them may depend on a number that it has computed.
So a row is filled to a fixed number of tokens, and the list of its sentences to a fixed number of entries.

Shapes: T tokens of a row, N entries of the list of sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class RowShape:
    """The shape of all packed rows of a run.

    Attributes:
        tokens: Tokens of a row, with padding.
        longest: The most tokens of a sentence.
        sentences: The most sentences of nearly every row; a row with more has a longer list.
    """

    tokens: int
    longest: int
    sentences: int

    @property
    def entries(self) -> int:
        """Entries of the list of sentences: sentences, pieces of padding, and empty entries.

        Empty entries are not free: flash attention starts blocks of threads for them, and its backward
        pass allocates 128 rows for each.
        """
        return self.sentences + -(-self.tokens // self.longest) + 1


@dataclass(frozen=True)
class Packing:
    """Where the sentences of a packed row begin.

    The padding at the end of the row is divided into pieces, because no entry may be longer than
    ``longest``. Empty entries follow.

    Attributes:
        bounds: Entry n has the tokens from ``bounds[n]`` to ``bounds[n + 1]``; int32, [N + 1].
        positions: The position of each token in its sentence, from 0; [1, T].
        longest: No entry has more tokens.
    """

    bounds: Tensor
    positions: Tensor
    longest: int

    def map(self, change: Callable[[Tensor], Tensor]) -> "Packing":
        """Return the same with other tensors."""
        return replace(self, bounds=change(self.bounds), positions=change(self.positions))

    def followed_by(self, other: "Packing") -> "Packing":
        """Return the packing of this row and another one as one row."""
        return Packing(
            bounds=torch.cat((self.bounds, other.bounds[1:] + self.positions.size(1))),
            positions=torch.cat((self.positions, other.positions), 1),
            longest=max(self.longest, other.longest),
        )


def move(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Copy a tensor from the CPU to a device; a GPU copies it while the CPU goes on."""
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def pack_sides(sides: Sequence[NDArray[np.integer]], shape: RowShape) -> list[Packing]:
    """Find the bounds of the sentences of packed rows that belong together.

    Args:
        sides: The lengths of the sentences of each row; entry n of all rows is one pair.
        shape: The shape of the rows.

    Raises:
        ValueError: If a row does not fit into the shape.
    """
    ends = [_find_ends(lengths, shape) for lengths in sides]
    entries = shape.entries
    while entries < max(map(len, ends)):
        entries *= 2  # few shapes all the same
    return [_pack(side, entries, shape) for side in ends]


def _find_ends(lengths: NDArray[np.integer], shape: RowShape) -> NDArray[np.integer]:
    used = int(lengths.sum())
    if used > shape.tokens or lengths.max(initial=0) > shape.longest:
        raise ValueError(f"{used} tokens, or a sentence of {lengths.max()}, do not fit {shape}")
    padding = np.arange(used + shape.longest, shape.tokens + shape.longest, shape.longest)
    return np.concatenate((np.cumsum(lengths), np.minimum(padding, shape.tokens)))


def _pack(ends: NDArray[np.integer], entries: int, shape: RowShape) -> Packing:
    bounds = np.full(entries + 1, shape.tokens, np.int32)
    bounds[0] = 0
    bounds[1 : len(ends) + 1] = ends
    starts = np.repeat(bounds[:-1], np.diff(bounds))
    positions = torch.from_numpy(np.arange(shape.tokens) - starts)[None]
    return Packing(torch.from_numpy(bounds), positions, shape.longest)
