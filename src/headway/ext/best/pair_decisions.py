"""What becomes of each pair of the training text: it is kept, occurs before, is held out, or shares a side.

The decisions are those of a preparation (`headway.text.preparation.selection`), with digests in memory in place of
files.
"""

from array import array
from typing import NamedTuple

import numpy as np

from headway.errors import HeadwayError
from headway.text import (
    KEPT,
    RANGE,
    RULES,
    SIDE,
    WHOLE,
    Decisions,
    FoundPairs,
    Report,
    Rule,
    choose_validation,
    digest_loosely,
    digest_pair,
    find_shared,
    mark_first,
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
        self._loose = array("Q")  # the three digests of each pair
        self._report = Report()

    def add(self, source: str, target: str, rule: str | None) -> None:
        """Count a pair of the text, and the rule that it breaks."""
        self._report.read += 1
        if rule is not None:
            self._report.dropped.setdefault(rule, FoundPairs()).count += 1
            return
        self._report.kept += 1
        self._pairs.append(number_of(source, target))
        if self._count is not None:
            digests = digest_loosely(source, target)
            self._loose.extend(int.from_bytes(digest, "big") for digest in digests)

    def __len__(self) -> int:
        return len(self._pairs)

    def report(self) -> Report:
        """Return the counts, without those of `decide`."""
        return self._report

    def decide(self) -> Decided:
        """Decide what becomes of the pairs that break no rule.

        Raises:
            HeadwayError: If there are too few to hold so many out.
        """
        decisions = np.full(len(self), KEPT, np.uint8)
        if self._drop_duplicates:
            is_first = mark_first(np.frombuffer(self._pairs, np.uint64))
            decisions[~is_first] = RULES.index(Rule.DUPLICATE)
        if self._count is None:
            return Decided(decisions, [])
        places = np.flatnonzero(decisions == KEPT)
        loose = np.frombuffer(self._loose, np.uint64).reshape(-1, 3)
        is_common = np.logical_or(*mark_repeated(loose[places, 1:].reshape(-1)).reshape(-1, 2).T)
        chosen = choose_validation(
            [(loose[places, 0], is_common, places)],
            self._count,
            len(places),
            self._report_duplicates,
        )
        wholes, sides = loose[chosen, 0], loose[chosen, 1:]
        # A search needs memory for its block.
        blocks = np.array_split(loose, 1 + len(self) // RANGE)
        found = np.concatenate([find_shared(block, wholes, sides) for block in blocks])
        for shared, rule in ((WHOLE, Rule.HELD_OUT), (SIDE, Rule.SIBLING)):
            decisions[(decisions == KEPT) & (found == shared)] = RULES.index(rule)
        if not (decisions == KEPT).any():
            raise HeadwayError(
                f"--valid {self._count}: each training pair has a side of a held-out one, so that none is"
                " left: hold out fewer, or give files"
            )
        return Decided(decisions, np.sort(chosen).tolist())

    def count_dropped(self, decided: Decided) -> dict[str, int]:
        """Return for each rule how many pairs it drops, those that are not decided by themselves included."""
        dropped = {rule: found.count for rule, found in self._report.dropped.items()}
        for rule in (Rule.DUPLICATE, Rule.SIBLING):
            if count := int((decided.decisions == RULES.index(rule)).sum()):
                dropped[rule] = count
        return dropped

    def _report_duplicates(self) -> Report:
        """Return the counts with those of the pairs that occur before."""
        report = Report()
        report.extend(self._report)
        report.dropped[Rule.DUPLICATE] = FoundPairs(len(self) - len({*self._pairs}))
        return report


def number_of(source: str, target: str = "") -> int:
    """Return the digest of a pair, or of a line, as a number below 2^64."""
    return int.from_bytes(digest_pair(source, target), "little")
