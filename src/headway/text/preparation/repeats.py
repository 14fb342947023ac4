"""Text that occurs several times, found across all ranges.

A task compares the digests of one partition: those in a fixed interval. So each task needs memory for its
partition only, and the number of partitions grows with the text.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headway.text.preparation.clean_ranges import SIDES, CleanRange, Digests

PARTITION_RANGES = 64  # ranges whose digests fill a partition
_INDEX_BITS = np.uint64(32)  # a place in the text is a range in the high bits and a place in it

Mask = npt.NDArray[np.bool_]


def count_partitions(ranges: int) -> int:
    """Return the number of partitions for a number of ranges."""
    return -(-ranges // PARTITION_RANGES)


def find_duplicates(file: Path, ranges: Sequence[CleanRange], partition: int) -> None:
    """Write the places of the pairs of a partition that occur before."""
    digests, places = _gather("pairs", ranges, partition)
    order = np.argsort(digests, kind="stable")  # equal pairs stay in the order of the text
    digests, places = digests[order], places[order]
    np.save(file, np.sort(places[1:][digests[1:] == digests[:-1]]))


def find_repeated_sides(
    file: Path,
    ranges: Sequence[CleanRange],
    partition: int,
    read_duplicates: Callable[[int], npt.NDArray[np.int64]],
) -> None:
    """Write the places of the sides of a partition that occur in several pairs.

    Args:
        file: The file to write.
        ranges: All ranges.
        partition: The number of the partition.
        read_duplicates: Range -> the pairs that occur before, which do not count.
    """
    digests, places = _gather("sides", ranges, partition)
    counted = np.ones(len(places), np.bool_)
    starts = np.searchsorted(places, np.arange(len(ranges) + 1, dtype=np.uint64) << _INDEX_BITS)
    for number, (start, end) in enumerate(pairwise(starts.tolist())):
        pairs = (places[start:end] & np.uint64(2**32 - 1)) // np.uint64(SIDES)
        counted[start:end] = ~np.isin(pairs.astype(np.int64), read_duplicates(number))
    digests, places = digests[counted], places[counted]
    np.save(file, np.sort(places[mark_repeated(digests)]))


def mark_repeated(digests: Digests) -> Mask:
    """Return for each digest whether another one is equal; it takes 18 bytes of memory for each."""
    order = np.argsort(digests)
    ordered = digests[order]
    is_next = np.append(ordered[1:] == ordered[:-1], False)[: len(digests)]
    is_repeated = np.zeros(len(digests), np.bool_)
    is_repeated[order] = is_next | np.append(False, is_next[:-1])[: len(digests)]
    return is_repeated


class PlacesReader:
    """Reads the places that the files of all partitions hold, range by range.

    A text has many files and many more ranges, so that the files are opened once for `PARTITION_RANGES` ranges,
    whose places fit into memory. They do not stay open, because a process may open only some hundred.

    Args:
        files: The files, which hold places in ascending order.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._block = -1
        self._places = np.zeros(0, np.uint64)  # of the ranges of the block

    def read(self, number: int) -> npt.NDArray[np.int64]:
        """Return the places in a range, in ascending order; faster if the ranges are read in order."""
        block = number // PARTITION_RANGES
        if block != self._block:
            first = block * PARTITION_RANGES
            parts = [
                np.array(_slice_ranges(np.load(file, mmap_mode="r"), first, PARTITION_RANGES))
                for file in self._files
            ]
            self._block = block
            self._places = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]))
        places = _slice_ranges(self._places, number, 1)
        return (places & np.uint64(2**32 - 1)).astype(np.int64)


def _slice_ranges(places: npt.NDArray[np.uint64], first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return the places in some ranges of places in ascending order."""
    low, high = (np.uint64(number) << _INDEX_BITS for number in (first, first + count))
    start, end = np.searchsorted(places, [low, high]).tolist()
    return places[start:end]


def _gather(
    kind: str, ranges: Sequence[CleanRange], partition: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return the digests of a partition, range by range, and their places in the text."""
    partitions = count_partitions(len(ranges))
    low, high = ((2**64 * n) // partitions for n in (partition, partition + 1))
    digests, places = [], []
    for number, cleaned in enumerate(ranges):
        some, where = cleaned.slice_digests(kind, low, high)
        digests.append(some)
        places.append(where | (np.uint64(number) << _INDEX_BITS))
    return np.concatenate(digests), np.concatenate(places)
