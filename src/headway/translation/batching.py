"""Batches of texts of similar length, and their tensors."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

ResultT = TypeVar("ResultT")


def batch_by_length(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Group texts of similar length into batches of at most ``max_tokens`` tokens, longest first.

    Args:
        lengths: Tokens of each text.
        max_tokens: Tokens of a batch, padding included; a longer text is a batch of its own.

    Yields:
        The indices of the texts of a batch.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    while order:
        size = max(1, max_tokens // lengths[order[0]])
        yield order[:size]
        order = order[size:]


def run_in_batches(
    run: Callable[[list[int]], list[ResultT]],
    lengths: Sequence[int],
    max_tokens: int,
    *,
    parallel: bool,
) -> list[ResultT]:
    """Return what a function returns for each text, which it gets in batches of similar length.

    Args:
        run: Takes the indices of the texts of a batch, and returns as many results.
        lengths: Tokens of each text.
        max_tokens: Tokens of a batch; see `batch_by_length`.
        parallel: Whether batches run on all threads.
    """
    batches = list(batch_by_length(lengths, max_tokens))
    threads = min(torch.get_num_threads(), len(batches)) if parallel else 1
    found: dict[int, ResultT] = {}
    # Native code releases the interpreter lock, so one batch runs on each thread.
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        results = map(run, batches) if pool is None else pool.map(run, batches)
        for rows, batch in zip(batches, results, strict=True):
            found.update(zip(rows, batch, strict=True))
    return [found[row] for row in range(len(found))]


def padded_batches(
    ids: Sequence[Sequence[int]], max_tokens: int, pad: int, device: torch.device
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yield texts of similar length as tensors.

    Args:
        ids: Token ids of each text.
        max_tokens: Tokens of a batch, padding included.
        pad: Id of ``<pad>``.
        device: Of the tensors.

    Yields:
        The indices of the texts of a batch; their ids, [B, L]; segments, [B, L], 0 for padding and
        else 1.
    """
    for rows in batch_by_length([len(text) for text in ids], max_tokens):
        text, segments = pad_right([ids[row] for row in rows], pad)
        yield rows, text.to(device), segments.to(device)


def batch_rows(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield ``rows`` in batches of 32; the last batch may be smaller."""
    for start in range(0, len(rows), 32):
        yield rows[start : start + 32]


def pad_right(rows: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Stack rows of ids; return ids [B, L] and segments [B, L], which are 0 for padding and else 1."""
    width = max(len(row) for row in rows)
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    segments = np.zeros((len(rows), width), dtype=np.int64)
    for row, values in enumerate(rows):
        ids[row, : len(values)] = values
        segments[row, : len(values)] = 1
    return torch.from_numpy(ids), torch.from_numpy(segments)
