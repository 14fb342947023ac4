"""Which pairs an epoch has, and in which blocks: a function of the seed and the epoch.

A corpus consists of groups, one for each pair of languages. Temperature sampling (Arivazhagan et al. 2019)
repeats the pairs of small groups. Every pair occurs at least once in an epoch, and those of the largest
group exactly once.

A block has stretches of neighboring pairs from all over the corpus, drawn anew in each epoch: texts that were joined,
one behind the other, are learned together, and the disk is still read in long pieces.
"""

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from headway.text.batches import Rows

STRETCH = 1024  # neighboring pairs, at most
SHARES = 64  # A block has at least so many stretches of each group, if the group has the pairs.


class Mixture:
    """The pairs of each epoch, in blocks that have the same share of every group.

    With temperature T, a group of n pairs is repeated (largest / n) ** (1 - 1 / T) times. The fraction of
    this number is the share of its pairs, drawn anew in each epoch, that occur once more.

    Args:
        sizes: Pairs of each group; the groups follow each other in the corpus.
        temperature: 1: every pair occurs once.
        block: The largest number of pairs of a block, but for rounding; at least the number of groups.
        seed: Of the draws.

    Attributes:
        blocks: Number of blocks of an epoch. A corpus of one block is read in its own order.
    """

    def __init__(self, sizes: Sequence[int], temperature: float, block: int, seed: int) -> None:
        self._seed = seed
        self._sizes = sizes
        largest = max(sizes)
        self._repeats = [(largest / size) ** (1 - 1 / temperature) for size in sizes]
        total = sum(size * repeats for size, repeats in zip(sizes, self._repeats, strict=True))
        self.blocks = math.ceil(total / block)

    def parts(self, epoch: int, block: int) -> list[list[range]]:
        """Return the stretches of neighboring pairs of each group that a block has, in the order of the corpus."""
        random = np.random.Generator(np.random.PCG64([self._seed, epoch, 1]))
        starts = accumulate(self._sizes, initial=0)
        parts = []
        for start, size in zip(starts, self._sizes, strict=False):
            length = min(STRETCH, math.ceil(size / (SHARES * self.blocks)))
            count = math.ceil(size / length)
            first, end = (count * number // self.blocks for number in (block, block + 1))
            drawn = start + length * np.sort(random.permutation(count)[first:end])
            parts.append([range(at, min(at + length, start + size)) for at in drawn.tolist()])
        return parts

    def rows(self, epoch: int, block: int) -> Rows:
        """Return the pairs of a block, some of them several times."""
        random = np.random.Generator(np.random.PCG64([self._seed, epoch, 2, block]))
        found = []
        for part, repeats in zip(self.parts(epoch, block), self._repeats, strict=True):
            stretches = [np.arange(stretch.start, stretch.stop) for stretch in part]
            rows = np.concatenate([np.arange(0), *stretches])  # a small group may have none here
            share, times = math.modf(repeats)
            drawn = random.permutation(len(rows))[: round(share * len(rows))]
            found += [rows] * int(times) + [rows[np.sort(drawn)]]
        return np.concatenate(found)
