"""Which sentences go together, in which order: a pure function of the lengths, seed and epoch.

Shapes: B batch, S source length, T target length. Paper: section 5.1, "batched together by
approximate sequence length".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from headway.errors import HeadwayError
from headway.text.shards import Corpus

ROUND = 128  # a packed row's length is a multiple


@dataclass(frozen=True)
class Batch:
    """Sentences padded on the right to common lengths, or packed one after the other into a row.

    Attributes:
        source: Ids [B, S].
        source_segments: [B, S]; 0 is padding, n the n-th sentence of a row.
        target: Ids [B, T], the labels.
        target_segments: [B, T] alike.
        rows: Where the pairs stand in their corpus, [B].
        target_tokens: Labels that are not padding.
        is_packed: Whether a row may hold several sentences.
    """

    source: Tensor
    source_segments: Tensor
    target: Tensor
    target_segments: Tensor
    rows: Any
    target_tokens: int
    is_packed: bool = False

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch on a device."""
        return replace(
            self,
            source=self.source.to(device),
            source_segments=self.source_segments.to(device),
            target=self.target.to(device),
            target_segments=self.target_segments.to(device),
        )


def plan_batches(
    source_lengths: Any, target_lengths: Any, max_tokens: int, seed: int, epoch: int
) -> list[Any]:
    """Group pairs of like lengths into batches, and put the batches in random order.

    Pairs are sorted by target and source length, ties at random, so that there is next to no
    padding, and cut where a batch, padding included, would pass ``max_tokens`` on either side.

    Args:
        source_lengths: Tokens of each source sentence, [pairs].
        target_lengths: Tokens of each target sentence, [pairs].
        max_tokens: Largest padded size of a batch on each side.
        seed: The run's.
        epoch: Counted from 0; another epoch has other batches in another order.

    Returns:
        The rows of each batch, in training order; every pair is in exactly one.

    Raises:
        HeadwayError: If a single pair is longer than ``max_tokens``.
    """
    random = np.random.Generator(np.random.PCG64([seed, epoch]))
    _check_longest(source_lengths, target_lengths, max_tokens)
    order = np.lexsort((random.random(len(source_lengths)), source_lengths, target_lengths))
    sources = np.asarray(source_lengths, np.int64)[order]
    targets = np.asarray(target_lengths, np.int64)[order]
    starts = [0]
    while starts[-1] < len(order):
        starts.append(starts[-1] + _fitting(sources, targets, starts[-1], max_tokens))
    batches = [order[a:b] for a, b in pairwise(starts)]
    return [batches[i] for i in random.permutation(len(batches))]


def plan_packed(
    source_lengths: Any, target_lengths: Any, max_tokens: int, seed: int, epoch: int
) -> list[Any]:
    """Put the pairs in random order and cut it where either side would pass ``max_tokens``.

    Lengths mix and there is no padding; the paper batches like lengths. Arguments, result and errors
    are those of `plan_batches`.
    """
    random = np.random.Generator(np.random.PCG64([seed, epoch]))
    _check_longest(source_lengths, target_lengths, max_tokens)
    order = random.permutation(len(source_lengths))
    ends = np.stack([np.cumsum(np.asarray(x, np.int64)[order])
                     for x in (source_lengths, target_lengths)])  # fmt: skip
    starts = [0]
    while starts[-1] < len(order):
        before = ends[:, starts[-1] - 1] if starts[-1] else (0, 0)
        stops = [
            np.searchsorted(e, b + max_tokens, "right") for e, b in zip(ends, before, strict=True)
        ]
        starts.append(int(min(stops)))
    return [order[a:b] for a, b in pairwise(starts)]


def _check_longest(source_lengths: Any, target_lengths: Any, max_tokens: int) -> None:
    longest_NP = np.maximum(source_lengths, target_lengths)
    if len(longest_NP) and longest_NP.max() > max_tokens:
        raise HeadwayError(
            f"a pair has {longest_NP.max()} tokens, more than a batch of {max_tokens}: raise"
            " training.batch_tokens and micro_batch_tokens, or lower text.max_tokens"
        )


def _fitting(sources: Any, targets: Any, start: int, max_tokens: int) -> int:
    """Count the pairs from ``start`` on that fit into one batch."""
    # A batch of n pairs has at least n tokens on the shortest side: look no further than that.
    reach = max_tokens // max(int(targets[start]), 1)
    source = np.maximum.accumulate(sources[start : start + reach])
    target = targets[start : start + reach]  # sorted: the last is the longest
    rows = np.arange(1, len(target) + 1)
    fits = (rows * source <= max_tokens) & (rows * target <= max_tokens)
    return int(len(fits) if fits.all() else fits.argmin())


def make_batch(
    corpus: Corpus, rows: Any, source_pad: int, target_pad: int, *, packed: bool = False
) -> Batch:
    """Read pairs and pad them, or pack them into one row.

    Args:
        corpus: Where they stand.
        rows: Their indices, [B].
        source_pad: Fills the source's padding.
        target_pad: Fills the target's padding.
        packed: One row, the n-th pair segment n of both sides, filled up to a multiple of 128 tokens.
    """
    sources, targets = (
        [corpus.sentence(side, int(i)) for i in rows] for side in ("source", "target")
    )
    if packed:
        sides = (*_pack(sources, source_pad), *_pack(targets, target_pad))
    else:
        sides = (*_stack(sources, source_pad), *_stack(targets, target_pad))
    source, source_segments, target, target_segments = sides
    tokens = sum(len(sentence) for sentence in targets)
    return Batch(source, source_segments, target, target_segments, rows, tokens, packed)


def split(batch: Batch, count: int) -> list[Batch]:
    """Cut a batch into parts of as many tokens each as can be, none of them empty.

    Args:
        batch: At least ``count`` sentences.
        count: Of the parts.
    """
    source, target = batch.source_segments, batch.target_segments
    if batch.is_packed:
        assert len(source) == 1, "segments are counted within a row"
        lengths = (source[0].bincount() + target[0].bincount())[1:]
    else:
        lengths = (source > 0).sum(1) + (target > 0).sum(1)
    # Dealt out from the longest on, there and back again.
    place = np.empty(len(lengths), np.int64)
    place[np.argsort(-lengths.numpy(), kind="stable")] = np.arange(len(lengths))
    there = place // count % 2 == 0
    owner = np.where(there, place % count, count - 1 - place % count)
    return [_part(batch, np.flatnonzero(owner == i)) for i in range(count)]


def _part(batch: Batch, chosen: Any) -> Batch:
    """Return the batch of some of its sentences."""
    source, source_segments = _choose(batch.source, batch.source_segments, batch, chosen)
    target, target_segments = _choose(batch.target, batch.target_segments, batch, chosen)
    tokens = int((target_segments > 0).sum())
    rows = batch.rows[chosen]
    return Batch(source, source_segments, target, target_segments, rows, tokens, batch.is_packed)


def _choose(ids: Tensor, segments: Tensor, batch: Batch, chosen: Any) -> tuple[Tensor, Tensor]:
    if not batch.is_packed:
        return ids[chosen], segments[chosen]
    mine = torch.zeros(len(batch.rows) + 1, dtype=torch.bool)
    mine[chosen + 1] = True
    kept = mine[segments]
    return _fill(ids[kept], segments[kept], int(ids[0, -1]))


def _pack(sentences: Sequence[Any], pad: int) -> tuple[Tensor, Tensor]:
    lengths = np.array([len(sentence) for sentence in sentences])
    ids = torch.from_numpy(np.concatenate(sentences).astype(np.int64))
    return _fill(ids, torch.from_numpy(np.repeat(np.arange(1, len(lengths) + 1), lengths)), pad)


def _fill(ids: Tensor, segments: Tensor, pad: int) -> tuple[Tensor, Tensor]:
    """Make one row, [1, T], of a multiple of `ROUND` tokens, at least one of them padding."""
    # Products are compiled for each size they meet, so there should be few. If one side alone had
    # padding, attention would look for its partner on the other side.
    missing = ROUND - len(ids) % ROUND
    return F.pad(ids, (0, missing), value=pad)[None], F.pad(segments, (0, missing))[None]


def _stack(sentences: Sequence[Any], pad: int) -> tuple[Tensor, Tensor]:
    lengths = np.array([len(sentence) for sentence in sentences])
    real = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(real.shape, pad, np.int64)
    ids[real] = np.concatenate(sentences)
    return torch.from_numpy(ids), torch.from_numpy(real.astype(np.int64))
