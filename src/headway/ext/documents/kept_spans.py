"""Where a translation has the kept texts of its paragraph, so that only their elements write them."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from headway.ext.documents.paragraph import Element
from headway.text import Span


class KeptSpans:
    """The places of kept texts in a translation.

    Args:
        target: The translation.
        kept: Where each kept text stands in it, by where it starts in the paragraph.
    """

    def __init__(self, target: str, kept: Mapping[int, Span]) -> None:
        self._target, self._places = target, kept
        self._spans = sorted((start, end, own) for own, (start, end) in kept.items())

    def find(self, element: Element[Any]) -> Span | None:
        """Return where the translation has the text of an element that is kept, if it has it."""
        is_kept = element.is_kept and element.start < element.end
        return self._places.get(element.start) if is_kept else None

    def cut(self, start: int, end: int) -> str:
        """Return the characters from ``start`` to ``end`` without kept texts."""
        text, at = "", start
        for a, b, _ in self._between(start, end):
            text, at = text + self._target[at:a], b
            if text[-1:].isspace() and self._target[at : at + 1].isspace():
                at += 1
        return text + self._target[at:end]

    def leave_out_others(self, own: Span, span: Span) -> Span:
        """Return a range of the translation for an element, without the kept texts of other elements.

        It ends before the first of these, or begins behind one that it would begin with.

        Args:
            own: Where the element is in the paragraph.
            span: The range with them.
        """
        start, end = span
        for a, b, place in self._between(start, end):
            if own[0] <= place < own[1]:
                continue
            if a > start:
                end = a
                break
            start = min(b, end)
        text = self._target[start:end]
        if text.strip():
            start, end = end - len(text.lstrip()), start + len(text.rstrip())
        return start, end

    def _between(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the kept texts that begin in a range: start, end, and where it starts in the paragraph."""
        for number in range(bisect_left(self._spans, (start,)), len(self._spans)):
            if self._spans[number][0] >= end:
                break
            yield self._spans[number]
