"""Ranges of text as it was read: the text is cut into ranges of a fixed number of pairs.

Most kinds of text can only be read in order (compressed files, tables, standard input), so one process
reads all of it and writes range after range, while others clean the ranges that are written.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from headway.text.lines import Damaged
from headway.text.readers import Pair

TEXT = "text"
_ERRORS = "surrogatepass"  # half a character is dropped later, as a pair that cannot be read


def write_raw_range(directory: Path, pairs: Iterable[Pair | Damaged]) -> int:
    """Write a range and return the number of its pairs."""
    count = 0
    with (directory / TEXT).open("w", encoding="utf-8", errors=_ERRORS, newline="\n") as file:
        for pair in pairs:
            count += 1
            if isinstance(pair, Damaged):
                file.write(
                    f"!{pair.line}\n{json.dumps(pair.reason)}\n{json.dumps(pair.is_elsewhere)}\n"
                )
            else:
                file.write(f"{pair.line}\n{pair.source}\n{pair.target}\n")
    return count


def read_raw_range(directory: Path) -> Iterator[Pair | Damaged]:
    """Read a range; a damaged pair has its line and its reason, and no file."""
    with (directory / TEXT).open(encoding="utf-8", errors=_ERRORS, newline="\n") as file:
        for line in file:
            source, target = next(file)[:-1], next(file)[:-1]
            if line.startswith("!"):
                is_elsewhere = json.loads(target)
                yield Damaged("", int(line[1:]), json.loads(source), is_elsewhere=is_elsewhere)
            else:
                yield Pair(source, target, int(line))


def remove_text(directory: Path) -> None:
    """Delete the text of a range that is not needed any more; the range still counts as read."""
    (directory / TEXT).unlink(missing_ok=True)
