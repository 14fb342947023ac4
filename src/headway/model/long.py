"""Attention over long inputs, without a number for each pair of positions.

Restricted attention is cut into blocks of queries, each with the few keys it can reach, which become
the rows of a batch: O(r n d) in time and memory. What else cannot be stored whole is walked over in
blocks of queries and computed again in the backward pass: O(n d) in memory.

Shapes: B batch, T queries, S keys, H heads, K d_k, V d_v, C queries of a block, R keys that a block
reaches, M blocks of all rows of the batch. Paper: section 4, "restricted".
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from headway.model.visible import Visible

# Queries whose scores are held at a time: smaller blocks cost time, larger ones memory.
BLOCK = 64

Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]


def banded(
    attend: Attend, q_BHTK: Tensor, k_BHTK: Tensor, v_BHTV: Tensor, visible: Visible
) -> Tensor:
    """Attend within a window, at the cost of the window: [B, H, T, V].

    Args:
        attend: Attention with a drawn mask, ``attend(q, k, v, mask)``.
        q_BHTK: Queries.
        k_BHTK: Keys of the same positions.
        v_BHTV: Values of the same positions.
        visible: With a window.
    """
    batch, _, length, _ = q_BHTK.shape
    size = max(BLOCK, visible.before, visible.after)  # no block reaches past its neighbours
    q_MHCK = _rows(_blocks(q_BHTK.transpose(1, 2), size))
    k_MHRK = _rows(_reached(k_BHTK.transpose(1, 2), size, visible))
    v_MHRV = _rows(_reached(v_BHTV.transpose(1, 2), size, visible))
    # Positions that only fill up the blocks are a segment of their own, so that none sees nothing.
    ones_BT = torch.ones(batch, length, dtype=torch.long, device=q_BHTK.device)
    queries_BT = ones_BT if visible.queries is None else visible.queries
    keys_BT = ones_BT if visible.keys is None else visible.keys
    inside = visible._replace(
        queries=_blocks(queries_BT, size, fill=-1).flatten(0, 1),
        keys=_reached(keys_BT, size, visible, fill=-1).flatten(0, 1),
        first=visible.before,
    )
    y_MHCV = in_blocks(attend, q_MHCK, k_MHRK, v_MHRV, inside)
    y_BHTV = y_MHCV.unflatten(0, (batch, -1)).transpose(1, 2).flatten(2, 3)
    return y_BHTV[:, :, :length]


def in_blocks(
    attend: Attend, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor, visible: Visible
) -> Tensor:
    """Attend with a block of queries at a time, [B, H, T, V]; one block keeps all it computes.

    Args:
        attend: Attention with a drawn mask, ``attend(q, k, v, mask)``.
        q_BHTK: Queries.
        k_BHSK: Keys.
        v_BHSV: Values.
        visible: Which query may attend to which key.
    """
    length = q_BHTK.size(2)
    size = length if length <= BLOCK or k_BHSK.size(2) <= 4 * BLOCK else BLOCK

    def block(start: int, q_BHTK: Tensor, k_BHSK: Tensor, v_BHSV: Tensor) -> Tensor:
        queries = range(start, min(start + size, length))
        keys = visible.reach(queries, k_BHSK.size(2))
        k_BHRK, v_BHRV = (x[:, :, keys.start : keys.stop] for x in (k_BHSK, v_BHSV))
        mask = visible.mask(queries, keys, q_BHTK.device)
        return attend(q_BHTK[:, :, start : queries.stop], k_BHRK, v_BHRV, mask)

    if size == length:
        return block(0, q_BHTK, k_BHSK, v_BHSV)
    return torch.cat(
        [
            checkpoint(block, start, q_BHTK, k_BHSK, v_BHSV, use_reentrant=False)
            if torch.is_grad_enabled()
            else block(start, q_BHTK, k_BHSK, v_BHSV)
            for start in range(0, length, size)
        ],
        2,
    )


def _blocks(x_BT: Tensor, size: int, fill: int = 0) -> Tensor:
    """Cut positions, [B, T, ...], into blocks [B, T / C, C, ...], the last one filled up."""
    missing = -x_BT.size(1) % size
    if missing:
        x_BT = F.pad(x_BT, (0, 0) * (x_BT.dim() - 2) + (0, missing), value=fill)
    return x_BT.unflatten(1, (-1, size))


def _reached(x_BT: Tensor, size: int, visible: Visible, fill: int = 0) -> Tensor:
    """Give each block what its queries can reach: its own positions and some of its neighbours'."""
    x_BNC = _blocks(x_BT, size, fill)
    edge = torch.full_like(x_BNC[:, :1], fill)
    parts = [x_BNC]
    if visible.before:
        parts.insert(0, torch.cat((edge, x_BNC[:, :-1]), 1)[:, :, size - visible.before :])
    if visible.after:
        parts.append(torch.cat((x_BNC[:, 1:], edge), 1)[:, :, : visible.after])
    return torch.cat(parts, 2)


def _rows(x_BNCHK: Tensor) -> Tensor:
    """Make the blocks rows of one batch, [M, H, C, K]."""
    return x_BNCHK.flatten(0, 1).transpose(1, 2)
