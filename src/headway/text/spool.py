"""Cleaned pairs on disk, until the subwords are learned.

Standard input can be read only once, and the subwords must be learned before anything is tokenized.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.text.readers import Pair


class Spool:
    """A temporary file of pairs, which can be read several times.

    Args:
        path: The file; it is written by `write`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, pairs: Iterable[Pair]) -> int:
        """Write pairs in place of those that the file holds, and return their number.

        The pairs may be computed from those of the file.
        """
        count = 0
        new = self._path.with_suffix(".new")
        with new.open("w", encoding="utf-8", newline="\n") as file:
            for pair in pairs:
                file.write(f"{pair.line}\n{pair.source}\n{pair.target}\n")
                count += 1
        new.replace(self._path)
        return count

    def __iter__(self) -> Iterator[Pair]:
        with self._path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield Pair(next(file)[:-1], next(file)[:-1], int(line))

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink()
