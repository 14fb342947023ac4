"""What becomes of each pair of the training text: it is kept, occurs before, is held out, or shares a side.

The decisions are those of a preparation (`headway.text.preparation.selection`), with digests in memory in place of
files.
"""

from array import array
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError
from headway.text import (
    DUPLICATE,
    KEPT,
    RANGE,
    REPEATED,
    SHARES_A_SIDE,
    SIBLING,
    SIDES,
    Decisions,
    Digests,
    Report,
    choose_validation,
    decide_pairs,
    digest_loosely,
    digest_pair,
    mark_repeated,
)


class Decided(NamedTuple):
    """The decisions of the pairs that break no rule.

    Attributes:
        decisions: What becomes of each pair.
        held_out: The numbers of the pairs that are held out for validation, in ascending order.
    """

    decisions: Decisions
    held_out: list[int]


class PairDecisions:
    """Counts the pairs of a text, and decides what becomes of them.

    Args:
        held_out: The number of pairs to hold out; None: there are validation files.
        drop_duplicates: Whether only the first of equal pairs is kept.
    """

    def __init__(self, held_out: int | None, *, drop_duplicates: bool) -> None:
        self._count = held_out
        self._drop_duplicates = drop_duplicates
        self._pairs = array("Q")
        self._loose = bytearray()
        self._report = Report()

    def add(self, source: str, target: str, rule: str | None) -> None:
        """Count a pair of the text, and the rule that it breaks."""
        self._report.read += 1
        if rule is not None:
            self._report.drop(rule, self._report.read, f"{source} | {target}")
            return
        self._report.kept += 1
        self._pairs.append(number_of(source, target))
        if self._count is not None:
            self._loose += b"".join(digest_loosely(source, target))

    def __len__(self) -> int:
        return len(self._pairs)

    def lines(self) -> npt.NDArray[np.int64]:
        """Return the number of each pair that breaks no rule."""
        return np.arange(len(self), dtype=np.int64)

    def loose_digests(self) -> Digests:
        """Return the digests of `digest_loosely`, [pairs, 3]."""
        return np.frombuffer(self._loose, "<u8").reshape(-1, 1 + SIDES)

    def report(self) -> Report:
        """Return the counts, without those of `decide`."""
        return self._report

    def decide(self) -> Decided:
        """Decide what becomes of the pairs that break no rule.

        Raises:
            HeadwayError: If there are too few to hold so many out.
        """
        is_first = (
            mark_first(self._pairs) if self._drop_duplicates else np.ones(len(self), np.bool_)
        )
        repeated = np.flatnonzero(~is_first)
        if self._count is None:
            return Decided(np.where(is_first, KEPT, REPEATED).astype(np.uint8), [])
        loose = self.loose_digests()
        is_common = mark_repeated(loose[is_first, 1:].reshape(-1)).reshape(-1, SIDES).any(axis=1)
        places = SIDES * np.flatnonzero(is_first)[is_common]
        chosen = choose_validation([self], self._count, lambda _: repeated, lambda _: places)
        held_out = [pair.place for pair in chosen]
        wholes, sides = loose[held_out, 0], loose[held_out, 1:].reshape(-1)
        blocks = np.array_split(
            loose, 1 + len(self) // RANGE
        )  # a search needs memory for its block
        decisions = np.concatenate([decide_pairs(block, wholes, sides) for block in blocks])
        decisions[repeated] = REPEATED
        if not (decisions == KEPT).any():
            raise HeadwayError(
                f"--valid {self._count}: each training pair has a side of a held-out one, so that none is"
                " left: hold out fewer, or give files"
            )
        return Decided(decisions, held_out)

    def count_dropped(self, decided: Decided) -> dict[str, int]:
        """Return for each rule how many pairs it drops, those that are not decided by themselves included."""
        dropped = {rule: found.count for rule, found in self._report.dropped.items()}
        for rule, decision in ((DUPLICATE, REPEATED), (SIBLING, SHARES_A_SIDE)):
            if count := int((decided.decisions == decision).sum()):
                dropped[rule] = count
        return dropped


def mark_first(digests: "array[int]") -> npt.NDArray[np.bool_]:
    """Return for each digest whether it is the first one of its value; it takes 33 bytes of memory for each."""
    is_first = np.zeros(len(digests), np.bool_)
    is_first[np.unique(np.frombuffer(digests, np.uint64), return_index=True)[1]] = True
    return is_first


def number_of(source: str, target: str = "") -> int:
    """Return the digest of a pair, or of a line, as a number below 2^64."""
    return int.from_bytes(digest_pair(source, target), "little")
