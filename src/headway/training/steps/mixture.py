"""Which pairs an epoch has, and in which blocks: a function of the seed and the epoch.

A corpus consists of groups, one for each pair of languages. Temperature sampling (Arivazhagan et al. 2019)
repeats the pairs of small groups. Every pair occurs at least once in an epoch, and those of the largest
group exactly once.
"""

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from headway.text.batches import Rows


class Mixture:
    """The pairs of each epoch, in blocks that have the same share of every group.

    With temperature T, a group of n pairs is repeated (largest / n) ** (1 - 1 / T) times. The fraction of
    this number is the share of its pairs, drawn anew in each epoch, that occur once more.

    Args:
        sizes: Pairs of each group; the groups follow each other in the corpus.
        temperature: 1: every pair occurs once.
        block: The largest number of pairs of a block, but for rounding.
        seed: Of the draws.

    Attributes:
        blocks: Number of blocks of an epoch.
    """

    def __init__(self, sizes: Sequence[int], temperature: float, block: int, seed: int) -> None:
        self._seed = seed
        largest = max(sizes)
        self._repeats = [(largest / size) ** (1 - 1 / temperature) for size in sizes]
        total = sum(size * repeats for size, repeats in zip(sizes, self._repeats, strict=True))
        self.blocks = math.ceil(total / block)
        self._widths = [math.ceil(size * block / total) for size in sizes]
        self._ends = list(accumulate(sizes))

    def parts(self, block: int) -> list[range]:
        """Return the neighboring pairs of each group that a block has."""
        starts = [0, *self._ends[:-1]]
        return [
            range(min(start + block * width, end), min(start + (block + 1) * width, end))
            for start, end, width in zip(starts, self._ends, self._widths, strict=True)
        ]

    def rows(self, epoch: int, block: int) -> Rows:
        """Return the pairs of a block, some of them several times."""
        random = np.random.Generator(np.random.PCG64([self._seed, epoch, 2, block]))
        found = []
        for part, repeats in zip(self.parts(block), self._repeats, strict=True):
            rows = np.arange(part.start, part.stop)
            share, times = math.modf(repeats)
            drawn = random.permutation(len(rows))[: round(share * len(rows))]
            found += [rows] * int(times) + [rows[np.sort(drawn)]]
        return np.concatenate(found)
