"""Attention over long inputs, without a number for each pair of positions.

Restricted attention is cut into blocks of queries, each with the few keys that it reaches. The
blocks become the rows of a batch: O(r n d) in time and memory. All other attention that is too
large to store is computed a block of queries at a time, and again in the backward pass: O(n d) in
memory.

Shapes: B batch, T queries, S keys, H heads, K d_k, V d_v, C queries of a block, R keys that a block
reaches, M blocks of all rows of the batch. Paper: section 4, "restricted".
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from headway.model.visibility import Segments, Visibility

# Queries whose scores are held at a time: smaller blocks cost time, larger ones memory.
BLOCK = 64

# Attention with a drawn mask: (q, k, v, mask) -> [B, H, T, V].
MaskedAttention = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]


def attend_in_window(
    attend: MaskedAttention, q_BHTK: Tensor, k_BHTK: Tensor, v_BHTV: Tensor, visibility: Visibility
) -> Tensor:
    """Attend within a window, at the cost of the window: [B, H, T, V].

    Args:
        attend: Computes a block.
        q_BHTK: Queries.
        k_BHTK: Keys of the same positions.
        v_BHTV: Values of the same positions.
        visibility: With a window.
    """
    batch, _, length, _ = q_BHTK.shape
    # A block reaches no farther than its two neighbors.
    size = max(BLOCK, visibility.positions_before, visibility.positions_after)
    q_MHCK = _as_rows(_cut_blocks(q_BHTK.transpose(1, 2), size))
    k_MHRK = _as_rows(_cut_reaches(k_BHTK.transpose(1, 2), size, visibility))
    v_MHRV = _as_rows(_cut_reaches(v_BHTV.transpose(1, 2), size, visibility))
    # Positions that only fill up a block get a segment of their own, so that each of them may
    # attend to something.
    ones_BT = torch.ones(batch, length, dtype=torch.long, device=q_BHTK.device)
    queries_BT = ones_BT if visibility.queries is None else visibility.queries.ids
    keys_BT = ones_BT if visibility.keys is None else visibility.keys.ids
    queries_MC = _cut_blocks(queries_BT, size, fill=-1).flatten(0, 1)
    keys_MR = _cut_reaches(keys_BT, size, visibility, fill=-1).flatten(0, 1)
    inside = replace(
        visibility,
        queries=Segments(queries_MC, is_packed=True),
        keys=Segments(keys_MR, is_packed=True),
        first=visibility.positions_before,
    )
    y_MHCV = attend_in_blocks(attend, q_MHCK, k_MHRK, v_MHRV, inside)
    y_BHTV = y_MHCV.unflatten(0, (batch, -1)).transpose(1, 2).flatten(2, 3)
    return y_BHTV[:, :, :length]


def attend_in_blocks(
    attend: MaskedAttention, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visibility: Visibility
) -> Tensor:
    """Attend with a block of queries at a time, [B, H, T, V]; a single block keeps what it computes.

    Args:
        attend: Computes a block.
        q_BHTK: Queries.
        k_BHSK: Keys.
        v_BHSV: Values.
        visibility: Which query may attend to which key.
    """
    length = q_BHTK.size(2)
    size = length if length <= BLOCK or k_BHSK.size(2) <= 4 * BLOCK else BLOCK

    def attend_block(start: int, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor) -> Tensor:
        queries = range(start, min(start + size, length))
        keys = visibility.reachable_keys(queries, k_BHSK.size(2))
        k_BHRK, v_BHRV = (x[:, :, keys.start : keys.stop] for x in (k_BHSK, v_BHSV))
        mask = visibility.mask(queries, keys, q_BHTK.device)
        return attend(q_BHTK[:, :, start : queries.stop], k_BHRK, v_BHRV, mask)

    if size == length:
        return attend_block(0, q_BHTK, k_BHSK, v_BHSV)
    return torch.cat(
        [
            checkpoint(attend_block, start, q_BHTK, k_BHSK, v_BHSV, use_reentrant=False)
            if torch.is_grad_enabled()
            else attend_block(start, q_BHTK, k_BHSK, v_BHSV)
            for start in range(0, length, size)
        ],
        2,
    )


def _cut_blocks(x_BT: Tensor, size: int, fill: int = 0) -> Tensor:
    """Cut positions, [B, T, ...], into blocks [B, T / C, C, ...]; ``fill`` completes the last."""
    missing = -x_BT.size(1) % size
    if missing:
        x_BT = F.pad(x_BT, (0, 0) * (x_BT.dim() - 2) + (0, missing), value=fill)
    return x_BT.unflatten(1, (-1, size))


def _cut_reaches(x_BT: Tensor, size: int, visibility: Visibility, fill: int = 0) -> Tensor:
    """Return each block's own positions with those of its neighbors that its queries reach."""
    x_BNC = _cut_blocks(x_BT, size, fill)
    edge = torch.full_like(x_BNC[:, :1], fill)
    reaches = [x_BNC]
    if visibility.positions_before:
        reaches.insert(
            0, torch.cat((edge, x_BNC[:, :-1]), 1)[:, :, size - visibility.positions_before :]
        )
    if visibility.positions_after:
        reaches.append(torch.cat((x_BNC[:, 1:], edge), 1)[:, :, : visibility.positions_after])
    return torch.cat(reaches, 2)


def _as_rows(x_BNCHK: Tensor) -> Tensor:
    """Make the blocks rows of one batch, [M, H, C, K]."""
    return x_BNCHK.flatten(0, 1).transpose(1, 2)
