"""The numbers of the ranges of a text: the ranges of a group follow those of the group before."""

import json

from headway.tasks.ledger import Ledger, task_name
from headway.text.stages.repeats import count_partitions

FILE = "ranges.json"  # how many ranges each group has


class RangeNumbers:
    """Which ranges a group has, as the task that reads the text has written.

    Args:
        ledger: Where the results of the tasks are.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def count(self) -> int:
        """The number of ranges that are read so far."""
        if self._is_read:  # a list of files may be older, on a network
            return sum(self._counts())
        return len(self._ledger.list_done("raw"))

    def of_group(self, group: int) -> range:
        """Return the numbers of the ranges of a group; all text is read."""
        counts = self._counts()
        first = sum(counts[:group])
        return range(first, first + counts[group])

    def find_group(self, number: int) -> int:
        """Return the group of a range."""
        groups = range(len(self._counts()))
        return next(group for group in groups if number in self.of_group(group))

    def list_partitions(self) -> list[tuple[int, int]]:
        """Return the partitions of the digests of each group: a group, and a number in it."""
        if not self._is_read:
            return []
        counts = enumerate(self._counts())
        return [(group, n) for group, count in counts for n in range(count_partitions(count))]

    @property
    def _is_read(self) -> bool:
        return self._ledger.is_done(task_name("read"))

    def _counts(self) -> list[int]:
        counts: list[int] = json.loads((self._ledger.result("read") / FILE).read_bytes())
        return counts
