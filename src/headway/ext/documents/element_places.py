"""The characters of a translation that an inline element stands around, once its words are known."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, Generic

from headway.ext.documents.paragraph import Content, Element
from headway.ext.documents.points import find_point, is_mark
from headway.ext.documents.word_parts import WordParts
from headway.ext.protect import AMOUNT, overlapped
from headway.text import Span, WordLinks, is_translatable


class KeptSpans:
    """The places of protected texts in a translation.

    Args:
        target: The translation.
        kept: Where each protected text stands in it, by where it starts in the paragraph.
    """

    def __init__(self, target: str, kept: Mapping[int, Span]) -> None:
        self._target, self._places = target, kept
        self._spans = sorted((start, end, own) for own, (start, end) in kept.items())

    def find(self, element: Element[Any]) -> Span | None:
        """Return where the translation has the text of an element that is kept, if it has it."""
        is_kept = element.is_kept and element.start < element.end
        return self._places.get(element.start) if is_kept else None

    def cut(self, start: int, end: int) -> str:
        """Return the characters from ``start`` to ``end`` without protected texts."""
        text, at = "", start
        for a, b, _ in self._between(start, end):
            text, at = text + self._target[at:a], b
            if text[-1:].isspace() and self._target[at : at + 1].isspace():
                at += 1
        return text + self._target[at:end]

    def leave_out_others(self, own: Span, span: Span) -> Span:
        """Return a range of the translation for an element, without the protected texts of other elements.

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
        """Yield the protected texts that begin in a range: start, end, and where it starts in the paragraph."""
        for number in range(bisect_left(self._spans, (start,)), len(self._spans)):
            if self._spans[number][0] >= end:
                break
            yield self._spans[number]


_PAUSES = ",;:\uff0c\uff1b\uff1a\u3001"
_LONGEST_AMOUNT = 32  # characters of a number with its unit


@dataclass(frozen=True)
class ElementPlaces(Generic[Content]):
    """Where elements start and end in a translation, in characters.

    Attributes:
        text: The text of the paragraph.
        target: The translation.
        links: Words that belong together.
        kept: Where the translation has protected texts.
        parts: The elements around parts of words.
    """

    text: str
    target: str
    links: WordLinks
    kept: KeptSpans
    parts: WordParts

    @cached_property
    def _marks(self) -> list[int]:
        """Where those words of the text end that have a mark at their end."""
        return [end for _, end in self.links.source if is_mark(self.text[end - 1])]

    @cached_property
    def _amounts(self) -> list[Span]:
        """Where the text has numbers with a unit or the sign of a currency."""
        return [found.span() for found in AMOUNT.finditer(self.text)]

    @cached_property
    def _next(self) -> list[int]:
        """For each word of the translation, where the text has the word for it, or for the next that has one."""
        starts = [len(self.text)] * (len(self.links.target) + 1)
        for source, target in self.links.pairs:
            starts[target] = min(starts[target], self.links.source[source][0])
        for word in range(len(self.links.target) - 1, -1, -1):
            if starts[word] == len(self.text):
                starts[word] = starts[word + 1]
        return starts

    def find(self, element: Element[Content], first: int, last: int, span: Span) -> Span:
        """Return where an element starts and ends.

        Args:
            element: The element.
            first: Its first word in the translation.
            last: The word behind it.
            span: The characters of the translation that are free for it.
        """
        words, target, text = self.links.target, self.target, self.text
        if kept := self.kept.find(element):
            if span[0] <= kept[0] and kept[1] <= span[1]:
                return kept
            at = min(max(kept[0], span[0]), span[1])  # it stays in the element around it
            return at, at
        if element.start == element.end or first >= last or first >= len(words):
            at = find_point(text, element.start, target, words, first)
            at = min(max(at, span[0]), span[1])
            return at, at
        a, b = words[first][0], words[last - 1][1]
        if part := self.parts.find(element, (a, b)):
            a, b = (min(max(at, span[0]), span[1]) for at in part)
            return a, b
        if element.is_kept:
            before, after = self._find_rest_of_word(element)
            if is_translatable(before + after):  # the rest of the word must not be lost
                return (b, b) if is_translatable(before) else (a, a)
        # Punctuation beside the element in the source stays outside of it, and punctuation in it inside. So does the
        # mark between the element and the word that follows it in the translation, such as the one at the end, a comma
        # that the source lacks, and any mark beside the word of which the element is a part.
        inside = text[element.start : element.end]
        mark = bisect_right(self._marks, element.end)
        moves_to_mark = mark < len(self._marks) and self._marks[mark] <= self._next[last]
        is_part = element in self.parts
        is_at_mark = is_part or is_mark(text[element.end : element.end + 1] or " ")
        is_new = target[b - 1] in _PAUSES
        if (is_at_mark or moves_to_mark or is_new) and not inside[-1].isspace():
            others = _count_marks(target[a:b][::-1]) - _count_marks(inside[::-1])
            b = max(a + 1, b - max(0, others))
        is_behind_mark = is_part or (element.start and is_mark(text[element.start - 1]))
        if is_behind_mark and not inside[0].isspace():
            others = _count_marks(target[a:b]) - _count_marks(inside)
            a = min(b - 1, a + max(0, others))
        amount = bisect_left(self._amounts, (element.start, 0))
        has_amount = amount < len(self._amounts) and self._amounts[amount][1] <= element.end
        if has_amount and not element.is_kept:
            a, b = self._cover_amounts(a, b)
        a = min(max(a, span[0]), span[1])
        return a, min(max(b, a), span[1])

    def _cover_amounts(self, start: int, end: int) -> Span:
        """Return a range of the translation, made longer so that it has a number always together with its currency sign or unit.

        The sign may stand before the number in one language and behind it in another: €4.17 and 4,17 €.
        """
        first, last = max(0, start - _LONGEST_AMOUNT), end + _LONGEST_AMOUNT
        for found in AMOUNT.finditer(self.target, first, last):
            if found.start() < end and start < found.end():
                start, end = min(start, found.start()), max(end, found.end())
        return start, end

    def _find_rest_of_word(self, element: Element[Content]) -> tuple[str, str]:
        """Return what else is in the words that an element begins and ends in: before it, and behind it."""
        first, last = overlapped(self.links.source, (element.start, element.end))
        if first == last:
            return "", ""
        (start, _), (_, end) = self.links.source[first], self.links.source[last - 1]
        text = self.text
        return text[start : element.start], text[element.end : end]


def _count_marks(text: str) -> int:
    """Return with how many punctuation marks a text begins."""
    return sum(1 for _ in takewhile(is_mark, text))
