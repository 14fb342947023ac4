"""The selection: which cleaned pairs of a group are training text, and which ones are held out for validation.

Pairs are compared by their digests, one partition at a time: the digests in a fixed interval. So a comparison needs
memory for its partition only, and the number of partitions grows with the text.

The choice of validation text depends on the text alone: the pairs with the smallest digests are held out,
wherever they stand in the file. If the training text grows, most of them are held out again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError, UsageError
from headway.text.cleaning import KEPT, RULES, Decisions, Digests, Report, Rule
from headway.text.preparation.clean_ranges import (
    SIDE,
    WHOLE,
    CleanRange,
    Places,
    find_shared,
    make_report,
)
from headway.text.readers import Pair

# Ranges whose digests are compared at a time: 24 ranges of 65,536 pairs need 180 MB.
PARTITION_RANGES = 24
SHARED = len(RULES)  # a pair is kept so far, and another one has its source or its target

Mask = npt.NDArray[np.bool_]


class PairSelection:
    """What becomes of each pair of a group. The place of a pair is its number in the text, before cleaning.

    The decisions are in a file that is mapped into memory, so that they may be more than fit.

    Args:
        file: A file that does not exist yet, for `read_decisions`.
        ranges: The cleaned text of the group, of which every range but the last has the same number of pairs.
        range_pairs: This number.
    """

    def __init__(self, file: Path, ranges: Sequence[CleanRange], range_pairs: int) -> None:
        with file.open("wb") as cleaned:
            cleaned.writelines(each.load("decisions").tobytes() for each in ranges)
        self._ranges = ranges
        self._decisions = np.memmap(file, np.uint8, "r+") if ranges else np.zeros(0, np.uint8)
        self._starts = range(0, len(self._decisions), range_pairs)
        self._parts: list[Decisions] = [
            self._decisions[start : start + range_pairs] for start in self._starts
        ]

    @property
    def kept(self) -> int:
        """The number of pairs that are kept so far."""
        return sum(int((part == KEPT).sum()) for part in self._parts)

    def report(self) -> Report:
        """Return the report of the decisions so far."""
        return make_report(zip(self._ranges, self._parts, strict=True))

    def require_pairs(self, name: str) -> None:
        """Check that pairs are kept.

        Args:
            name: The text, for the message.

        Raises:
            HeadwayError: If none are.
        """
        if not self.kept:
            report = self.report()
            table = "; ".join(" ".join(row.split()) for row in report.to_text().splitlines())
            reason = report.advice() or f"after cleaning: {table}"
            raise HeadwayError(f"{name}: no training pairs are left: {reason}")

    def drop_duplicates(self) -> None:
        """Drop pairs that occur before."""
        for digests, places in self._partitions("exact"):
            self._decisions[places[~mark_first(digests)]] = RULES.index(Rule.DUPLICATE)

    def choose(self, count: int) -> list[Pair]:
        """Choose pairs for validation, and return them in the order of the text.

        Raises:
            UsageError: If the count is 0 or more than half of the text.
        """
        chosen = choose_validation(self._candidates(), count, self.kept, self.report)
        pairs = self._read(chosen)
        return sorted((pairs[place] for place in chosen.tolist()), key=lambda pair: pair.line)

    def drop_held_out(self, wholes: Digests, sides: Digests) -> None:
        """Drop pairs that have a side in common with a pair that is held out of any group.

        Args:
            wholes: The digests of the pairs that are held out of this group.
            sides: Those of the sides of the pairs that are held out of all groups.
        """
        for cleaned, part in zip(self._ranges, self._parts, strict=True):
            part[part == SHARED] = KEPT
            if len(sides):
                found = find_shared(cleaned.load("loose"), wholes, sides)
                part[(part == KEPT) & (found == WHOLE)] = RULES.index(Rule.HELD_OUT)
                part[(part == KEPT) & (found == SIDE)] = RULES.index(Rule.SIBLING)

    def _partitions(self, kind: str) -> Iterator[tuple[Digests, Places]]:
        """Yield the digests of each partition, range by range, and the places of the pairs."""
        count = -(-len(self._ranges) // PARTITION_RANGES)
        limits = np.array([2**64 * number // count for number in range(1, count)], np.uint64)
        found = (cleaned.digests(kind)["digest"] for cleaned in self._ranges)
        bounds = np.array([[0, *np.searchsorted(d, limits), len(d)] for d in found])
        for number in range(count):
            yield self._gather(kind, *bounds[:, number : number + 2].T.tolist())

    def _gather(
        self, kind: str, firsts: Sequence[int], ends: Sequence[int]
    ) -> tuple[Digests, Places]:
        """Return some digests of each range, and the places of the pairs."""
        found = [
            cleaned.digests(kind, first, end - first)
            for cleaned, first, end in zip(self._ranges, firsts, ends, strict=True)
        ]
        starts = np.repeat(self._starts, [len(rows) for rows in found])
        places = starts + np.concatenate([rows["place"] for rows in found])
        return np.concatenate([rows["digest"] for rows in found]), places

    def _candidates(self) -> Iterator[tuple[Digests, Mask, Places]]:
        """Find the sides that occur in several pairs, and yield what `choose_validation` reads."""
        for digests, places in self._partitions("sides"):
            counted = np.isin(self._decisions[places], (KEPT, SHARED))
            repeated = mark_repeated(digests[counted])
            self._decisions[places[counted][repeated]] = SHARED
        for start, cleaned, part in zip(self._starts, self._ranges, self._parts, strict=True):
            places = np.flatnonzero(np.isin(part, (KEPT, SHARED)))
            yield cleaned.load("loose")[places, 0], part[places] == SHARED, start + places

    def _read(self, places: Places) -> dict[int, Pair]:
        """Return the pairs at some places."""
        pairs = {}
        for start, cleaned, part in zip(self._starts, self._ranges, self._parts, strict=True):
            some = places[(places >= start) & (places < start + len(part))] - start
            if len(some):
                lines = cleaned.load("lines")[some].tolist()
                texts = zip(some.tolist(), cleaned.texts(some), lines, strict=True)
                pairs.update({start + at: Pair(*text, line) for at, text, line in texts})
        return pairs


def read_decisions(file: Path, number: int, range_pairs: int) -> Decisions:
    """Return what becomes of the pairs of a range; see `PairSelection`.

    Args:
        file: The file of its group.
        number: Of the range in the group.
        range_pairs: Pairs of every range but the last.
    """
    return np.fromfile(file, np.uint8, range_pairs, offset=number * range_pairs)


def mark_first(digests: Digests) -> Mask:
    """Return for each digest whether it is the first one of its value; it takes 33 bytes of memory for each."""
    is_first = np.zeros(len(digests), np.bool_)
    is_first[np.unique(digests, return_index=True)[1]] = True
    return is_first


def mark_repeated(digests: Digests) -> Mask:
    """Return for each digest whether another one is equal; it takes 18 bytes of memory for each."""
    order = np.argsort(digests)
    ordered = digests[order]
    is_next = np.append(ordered[1:] == ordered[:-1], False)[: len(digests)]
    is_repeated = np.zeros(len(digests), np.bool_)
    is_repeated[order] = is_next | np.append(False, is_next[:-1])[: len(digests)]
    return is_repeated


def choose_validation(
    parts: Iterable[tuple[Digests, Mask, Places]],
    count: int,
    total: int,
    report: Callable[[], Report],
) -> Places:
    """Choose pairs for validation: first those of which no side is in another pair, then the smallest digests.

    Args:
        parts: Of the pairs of each part of the cleaned text: the digests, for which letter case and white space do
            not matter; whether another pair has the same source or target; and the places.
        count: The number of pairs to choose.
        total: The number of all pairs.
        report: Returns the report of the cleaning, for a message.

    Returns:
        The places of the chosen pairs, the best one first; of equal pairs the first is better.

    Raises:
        UsageError: If the count is 0 or more than half of the text.
    """
    if not 1 <= count <= total // 2:
        advice = report().advice()
        raise UsageError(
            f"--valid {count}: must be from 1 to {total // 2:,}, half of the {total:,} pairs of the cleaned training"
            f" text, or files{'; ' * bool(advice)}{advice}"
        )
    digests = np.zeros(0, np.uint64)
    is_shared, chosen = np.zeros(0, np.bool_), np.zeros(0, np.int64)
    for part in parts:
        digests = np.concatenate((digests, part[0]))
        is_shared = np.concatenate((is_shared, part[1]))
        best = np.lexsort((digests, is_shared))[:count]
        chosen = np.concatenate((chosen, part[2]))[best]
        digests, is_shared = digests[best], is_shared[best]
    return chosen
