"""Elements that a translation may have in several parts: words of other elements move between theirs.

In ``<span>A man plays </span><span>guitar</span><span> on the street</span>`` the translation may have the guitar at the
end, or in the middle, of the words of the last element.
"""

from bisect import bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush

from headway.ext.documents.paragraph import Content, Element

# The first word of an element in the translation, the word behind it, and the element.
WordRange = tuple[int, int, Element[Content]]


def divide_elements(found: Sequence[WordRange[Content]]) -> list[WordRange[Content]]:
    """Return elements so that those that can be divided have no words of others.

    An element with others inside stays whole.

    Args:
        found: Elements, sorted by their words.
    """
    if not any(map(_is_divisible, found)):
        return [*found]
    others = [each for each in found if each[0] < each[1] and not each[2].is_kept]
    starts = [first for first, _, _ in others]
    # A number tells elements with the same words apart; the list is a heap, because it is sorted.
    waiting = [(first, last, number) for number, (first, last, _) in enumerate(found)]
    divided = []
    while waiting:
        first, last, number = heappop(waiting)
        other = bisect_right(starts, first)
        end = last
        if _is_divisible(found[number]) and other < len(others) and others[other][1] <= last:
            end, rest, _ = others[other]
            if rest < last:
                heappush(waiting, (rest, last, number))
        divided.append((first, end, found[number][2]))
    return divided


def _is_divisible(item: WordRange[Content]) -> bool:
    first, last, element = item
    return first < last and element.is_divisible and not element.inner
