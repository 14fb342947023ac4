"""Batches of sentence pairs, whose order is a pure function of lengths, seed and epoch.

Shapes: B batch, S source length, T target length. Paper: section 5.1, "batched together by
approximate sequence length".
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from headway.errors import HeadwayError
from headway.model.visibility import Packing, RowShape, move, pack_sides
from headway.text.shards import Corpus
from headway.text.tokenizer import Tokenizer

ROUND = 128  # the length of a packed row is a multiple of this

Integers = NDArray[np.integer]  # of any width, on disk too
Rows = NDArray[np.int64]  # indices of pairs in a corpus


@dataclass(frozen=True)
class Batch:
    """Sentences padded on the right to common lengths, or packed one after the other into a row.

    Attributes:
        source: Ids [B, S].
        source_segments: [B, S]; 0 is padding, n the n-th sentence of a row.
        target: Ids [B, T], the labels.
        target_segments: [B, T] alike.
        pair_indices: The pairs' indices in their corpus, one for each sentence.
        target_tokens: Labels that are not padding.
        is_packed: Whether a row may hold several sentences.
        source_packing: Where the source sentences of a packed row begin; None unless its shape is fixed.
        target_packing: The same of the target sentences.
    """

    source: Tensor
    source_segments: Tensor
    target: Tensor
    target_segments: Tensor
    pair_indices: Rows
    target_tokens: int
    is_packed: bool = False
    source_packing: Packing | None = None
    target_packing: Packing | None = None

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch on a device."""
        return self.map(lambda tensor: move(tensor, device))

    def map(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Return the batch with other tensors; they are changed one by one, always in the same order."""
        return replace(
            self,
            source=change(self.source),
            source_segments=change(self.source_segments),
            target=change(self.target),
            target_segments=change(self.target_segments),
            source_packing=self.source_packing and self.source_packing.map(change),
            target_packing=self.target_packing and self.target_packing.map(change),
        )

    def tensors(self) -> list[Tensor]:
        """Return all tensors of the batch, always in the same order."""
        found: list[Tensor] = []

        def add(tensor: Tensor) -> Tensor:
            found.append(tensor)
            return tensor

        self.map(add)
        return found

    def followed_by(self, other: "Batch") -> "Batch":
        """Return this batch and another one of the same shape as one batch.

        Its rows are those of both, or, if there are packings, one row.
        """
        packings = self.source_packing, self.target_packing
        others = other.source_packing, other.target_packing
        source_packing, target_packing = (
            first and second and first.followed_by(second)
            for first, second in zip(packings, others, strict=True)
        )
        axis = 0 if source_packing is None else 1
        return Batch(
            source=torch.cat((self.source, other.source), axis),
            source_segments=torch.cat((self.source_segments, other.source_segments), axis),
            target=torch.cat((self.target, other.target), axis),
            target_segments=torch.cat((self.target_segments, other.target_segments), axis),
            pair_indices=np.concatenate((self.pair_indices, other.pair_indices)),
            target_tokens=self.target_tokens + other.target_tokens,
            is_packed=self.is_packed,
            source_packing=source_packing,
            target_packing=target_packing,
        )


def plan_batches(
    source_lengths: Integers, target_lengths: Integers, max_tokens: int, seed: int, epoch: int
) -> list[Rows]:
    """Group pairs of similar lengths into batches, and put the batches in random order.

    Pairs are sorted by target length, then source length, ties at random, so that there is hardly
    any padding. A batch ends before one side, padding included, would exceed ``max_tokens``.

    Args:
        source_lengths: Tokens of each source sentence, [pairs].
        target_lengths: Tokens of each target sentence, [pairs].
        max_tokens: Largest padded size of a batch on each side.
        seed: The run's seed.
        epoch: From 0; each epoch has other batches in another order.

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
        starts.append(starts[-1] + _count_fitting(sources, targets, starts[-1], max_tokens))
    batches = [order[a:b] for a, b in pairwise(starts)]
    return [batches[i] for i in random.permutation(len(batches))]


def plan_packed(
    source_lengths: Integers, target_lengths: Integers, max_tokens: int, seed: int, epoch: int
) -> list[Rows]:
    """Put the pairs in random order, and cut it before one side would exceed ``max_tokens``.

    A batch mixes lengths and becomes one row without padding; the paper batches similar lengths.
    Arguments, result and errors are those of `plan_batches`.
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


def _check_longest(source_lengths: Integers, target_lengths: Integers, max_tokens: int) -> None:
    longest_NP = np.maximum(source_lengths, target_lengths)
    if len(longest_NP) and longest_NP.max() > max_tokens:
        raise HeadwayError(
            f"a pair has {longest_NP.max()} tokens, more than a batch of {max_tokens}: raise"
            " training.batch_tokens and micro_batch_tokens, or lower text.max_tokens"
        )


def _count_fitting(sources: Rows, targets: Rows, start: int, max_tokens: int) -> int:
    """Count the pairs from ``start`` on that fit into one batch."""
    # Targets ascend, so that no batch holds more pairs than fit at the first target's length.
    reach = max_tokens // max(int(targets[start]), 1)
    source = np.maximum.accumulate(sources[start : start + reach])
    target = targets[start : start + reach]  # sorted: the last is the longest
    rows = np.arange(1, len(target) + 1)
    fits = (rows * source <= max_tokens) & (rows * target <= max_tokens)
    return int(len(fits) if fits.all() else fits.argmin())


def read_batch(
    corpus: Corpus,
    rows: Rows,
    source_pad: int,
    target_pad: int,
    *,
    packed: bool = False,
    shape: RowShape | None = None,
) -> Batch:
    """Read pairs and pad them, or pack them into one row.

    Args:
        corpus: The pairs' corpus.
        rows: The pairs' indices, [B].
        source_pad: Fills the source's padding.
        target_pad: Fills the target's padding.
        packed: Make one row, in which pair n is segment n of both sides, padded to a multiple of 128.
        shape: Of a packed row on a GPU, where all rows have one shape.
    """
    sources, targets = (
        [corpus.sentence(side, int(i)) for i in rows] for side in ("source", "target")
    )
    if not packed:
        return _pad(sources, targets, rows, source_pad, target_pad)
    tokens = 0 if shape is None else shape.tokens
    sides = (*_pack(sources, source_pad, tokens), *_pack(targets, target_pad, tokens))
    packings: Sequence[Packing | None] = (None, None)
    if shape is not None:
        lengths = [np.array([len(each) for each in side]) for side in (sources, targets)]
        packings = pack_sides(lengths, shape)
    return Batch(*sides, rows, _count_tokens(targets), True, *packings)


def make_batches(
    pairs: Sequence[tuple[str, str]],
    tokenizer: Tokenizer,
    max_tokens: int,
    *,
    seed: int = 1,
    epoch: int = 0,
) -> Iterator[Batch]:
    """Yield the batches of an epoch over pairs of texts, all in memory: what `headway.Trainer.step` takes.

    Pairs of similar lengths share a batch, and the batches are in random order (paper: section 5.1). The text is
    divided into tokens anew in each epoch.

    Args:
        pairs: Sources and targets.
        tokenizer: Turns them into token ids.
        max_tokens: Largest padded size of a batch on each side.
        seed: Decides the order, with the epoch.
        epoch: From 0; each epoch has other batches in another order.

    Raises:
        HeadwayError: If a single pair has more than ``max_tokens`` tokens.

    Examples:
        >>> for batch in make_batches([("a dog runs", "ein Hund läuft")], tokenizer, max_tokens=1000):
        ...     report = trainer.step([batch])
    """
    if not pairs:
        return
    texts = zip(*pairs, strict=True)
    encoders = tokenizer.encode_source, tokenizer.encode_target
    sources, targets = (
        [np.array(ids, np.int64) for ids in encode(list(side))]
        for encode, side in zip(encoders, texts, strict=True)
    )
    lengths = [np.array([len(ids) for ids in side]) for side in (sources, targets)]
    for rows in plan_batches(lengths[0], lengths[1], max_tokens, seed, epoch):
        some = [sources[row] for row in rows], [targets[row] for row in rows]
        yield _pad(*some, rows, tokenizer.source_pad, tokenizer.target_pad)


def _pad(
    sources: Sequence[Integers],
    targets: Sequence[Integers],
    rows: Rows,
    source_pad: int,
    target_pad: int,
) -> Batch:
    """Make a batch of sentences, padded on the right."""
    sides = (*_stack(sources, source_pad), *_stack(targets, target_pad))
    return Batch(*sides, rows, _count_tokens(targets))


def _count_tokens(sentences: Sequence[Integers]) -> int:
    return sum(map(len, sentences))


def check_labels(batch: Batch, vocab_size: int) -> None:
    """Check on the CPU that a batch has labels of the vocabulary only.

    Raises:
        IndexError: If not.
    """
    largest = int(batch.target.max())
    if largest >= vocab_size:
        raise IndexError(f"label {largest} of {vocab_size} tokens")


def fixed_shape(max_tokens: int, longest: int, mean: float) -> RowShape:
    """Return the shape of packed rows of up to ``max_tokens`` tokens.

    Args:
        max_tokens: Of a row without padding.
        longest: Tokens of the longest sentence.
        mean: Tokens of a mean sentence, of the side whose sentences are longer.
    """
    # The number of sentences of a row varies by its square root, about.
    sentences = math.ceil(1.1 * max_tokens / mean) + 16
    return RowShape(max_tokens + ROUND - max_tokens % ROUND, longest, sentences)


def _pack(sentences: Sequence[Integers], pad: int, tokens: int = 0) -> tuple[Tensor, Tensor]:
    """Make one row, [1, T], of ``tokens``, or of a multiple of `ROUND`; there is some padding."""
    lengths = np.array([len(sentence) for sentence in sentences])
    ids = torch.from_numpy(np.concatenate(sentences).astype(np.int64))
    segments = torch.from_numpy(np.repeat(np.arange(1, len(lengths) + 1), lengths))
    # There should be few lengths, because oneDNN compiles its products for each. Both sides have
    # padding, because cross-attention would find no keys for the padding of one side alone.
    missing = tokens - len(ids) if tokens else ROUND - len(ids) % ROUND
    return F.pad(ids, (0, missing), value=pad)[None], F.pad(segments, (0, missing))[None]


def _stack(sentences: Sequence[Integers], pad: int) -> tuple[Tensor, Tensor]:
    lengths = np.array([len(sentence) for sentence in sentences])
    real = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(real.shape, pad, np.int64)
    ids[real] = np.concatenate(sentences)
    return torch.from_numpy(ids), torch.from_numpy(real.astype(np.int64))
