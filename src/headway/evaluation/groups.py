"""Groups of lines by reference length and by number of rare words, and their scores."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.text.words import WORD, find_words

_LENGTHS = ((0, 9), (10, 19), (20, 29), (30, 49), (50, None))
_RARE_WORDS = ((0, 0), (1, 1), (2, 2), (3, None))
_FREQUENT = 5  # a word that occurs less often in the training text is rare

_WORD = re.compile(WORD)


@dataclass(frozen=True)
class LineGroup:
    """The scores of two systems on one group of lines.

    Attributes:
        name: What the lines have in common.
        lines: Number of lines.
        a: Metric -> score of A.
        b: Metric -> score of B.
    """

    name: str
    lines: int
    a: dict[str, float]
    b: dict[str, float]


def group_lines(
    references: Sequence[str], training: Iterable[str] | None = None
) -> dict[str, list[int]]:
    """Group lines by the length of the reference, and again by its rare words.

    Args:
        references: Raw text, a line each.
        training: Target side of the training text. A word is rare if it occurs there less than five
            times or, without training text, if it occurs once in the references.

    Returns:
        Name -> rows, counted from 0. Every row is in one group by length and in one by rare words;
        no group is empty.
    """
    words = [_WORD.findall(line.lower()) for line in references]
    if training is None:
        counts, frequent = Counter(word for line in words for word in line), 2
    else:
        wanted = {word for line in words for word in line}
        counts, frequent = Counter(), _FREQUENT
        for line in training:
            counts.update(word for word in _WORD.findall(line.lower()) if word in wanted)
    rare = [sum(counts[word] < frequent for word in line) for line in words]
    lengths = [len(find_words(line)) for line in references]
    groups = {
        **{_name(low, high, "word"): _within(lengths, low, high) for low, high in _LENGTHS},
        **{_name(low, high, "rare word"): _within(rare, low, high) for low, high in _RARE_WORDS},
    }
    return {name: rows for name, rows in groups.items() if rows}


def _within(values: Sequence[int], low: int, high: int | None) -> list[int]:
    return [
        row for row, value in enumerate(values) if low <= value <= (value if high is None else high)
    ]


def _name(low: int, high: int | None, what: str) -> str:
    if high is None:
        return f"{low} or more {what}s"
    if low == high:
        return f"{low or 'no'} {what}{'s' * (low != 1)}"
    return f"{low} to {high} {what}s" if low else f"up to {high} {what}s"
