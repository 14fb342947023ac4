"""Ranges of words in a text, and the ranges of its translation that belong to them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from headway.text import Span

Range = tuple[int, int]  # the first, and the one after the last


def overlapped(words: Sequence[Span], span: Span) -> Range:
    """Return the range of words in a span of characters; an empty range starts at the next word."""
    first = bisect_right(words, span[0], key=lambda word: word[1])
    last = max(first, bisect_left(words, span[1], key=lambda word: word[0]))
    return first, last


def between(pairs: Sequence[tuple[int, int]], words: Range) -> Sequence[tuple[int, int]]:
    """Return the links of a range of source words; the pairs are sorted."""
    first, last = (bisect_left(pairs, (word, 0)) for word in words)
    return pairs[first:last]


def translate_range(
    pairs: Sequence[tuple[int, int]], covered: Range, own: Range, words: Range
) -> Range:
    """Return the range of target words for a range of source words, within an element's range."""
    (first, last), (low, high) = covered, words
    if covered == own:
        return words
    inside = [target for _, target in between(pairs, covered)]
    if inside:
        return _densest(inside)
    # Without links the words keep their relative place.
    fraction = (first - own[0]) / max(1, own[1] - own[0])
    at = low + round(fraction * (high - low))
    return at, min(high, at + last - first)


def _densest(inside: Sequence[int]) -> Range:
    """Return the range that maximizes its linked words minus its other words."""
    best = (0, 0, 0)
    start = total = end = 0
    for word in sorted(set(inside)):
        total -= word - end  # the words in between
        if total <= 0:
            start, total = word, 0
        total, end = total + 1, word + 1
        if total > best[0]:
            best = (total, start, end)
    return best[1], best[2]
