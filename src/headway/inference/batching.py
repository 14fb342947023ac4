"""Which texts are translated together, and the tensors they make."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor


def batch_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group texts of like length, longest first, into batches of at most ``budget`` tokens."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    while order:
        size = max(1, budget // lengths[order[0]])
        yield order[:size]
        order = order[size:]


def pad_right(rows: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Stack rows of ids: ids [B, L] and segments [B, L], 0 for padding."""
    width = max(len(row) for row in rows)
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    segments = np.zeros((len(rows), width), dtype=np.int64)
    for row, values in enumerate(rows):
        ids[row, : len(values)] = values
        segments[row, : len(values)] = 1
    return torch.from_numpy(ids), torch.from_numpy(segments)
