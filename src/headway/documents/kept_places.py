"""Where the texts of a paragraph that stay as they are, such as code, stand in its translation."""

from typing import Any

from headway.documents.paragraph import Paragraph, walk
from headway.text.words import Span


def find_kept(paragraph: Paragraph[Any], target: str) -> dict[int, Span]:
    """Return where a translation has the texts of the elements that are kept, by where each element starts.

    A translation that lacks such a text has no entry for it. A short text can be in a long one, so the long
    ones are found first. Equal texts are taken in their order.

    Args:
        paragraph: The paragraph.
        target: Its translation.
    """
    own = paragraph.text
    kept: dict[str, list[int]] = {}
    for element in walk(paragraph.elements):
        if element.is_kept and element.start < element.end:
            kept.setdefault(own[element.start : element.end], []).append(element.start)
    found: dict[int, Span] = {}
    taken = bytearray(len(own)), bytearray(len(target))  # the characters of longer ones
    for text in sorted(kept, key=len, reverse=True):
        size, starts = len(text), kept[text]
        is_whole = all(_is_whole(own, start, start + size) for start in starts)
        before = _occurrences(own, text, taken[0], is_whole)
        after = _occurrences(target, text, taken[1], is_whole)
        # Where the text is no element, it may have been translated: print the `list` of the list.
        elements = set(starts)
        in_order = before if len(before) == len(after) else starts
        for start, place in zip(in_order, after, strict=False):
            if start in elements:
                found.setdefault(start, (place, place + size))
                taken[1][place : place + size] = b"1" * size
        for start in starts:
            taken[0][start : start + size] = b"1" * size
    return found


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit stands beside a part of a text."""
    return not any(map(str.isalnum, text[max(0, start - 1) : start] + text[end : end + 1]))


def _occurrences(text: str, part: str, taken: bytearray, is_whole: bool) -> list[int]:
    """Return where a part stands in a text, from left to right.

    Args:
        text: The text.
        part: The part.
        taken: Not 0 at the characters of the text that do not count.
        is_whole: Whether a place between other letters does not count: a variable `s` is not in "is".
    """
    found, at = [], text.find(part)
    while at >= 0:
        end = at + len(part)
        is_found = not any(taken[at:end]) and (not is_whole or _is_whole(text, at, end))
        found += [at] if is_found else []
        at = text.find(part, end if is_found else at + 1)
    return found
