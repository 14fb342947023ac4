"""The characters of a translation that an inline element stands around, once its words are known."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Generic

from headway.documents.kept_spans import KeptSpans
from headway.documents.paragraph import Content, Element
from headway.documents.points import find_point, is_mark
from headway.documents.word_ranges import Range, overlapped
from headway.text.languages import is_translatable
from headway.text.word_links import WordLinks
from headway.text.words import Span


@dataclass(frozen=True)
class ElementPlaces(Generic[Content]):
    """Where elements start and end in a translation, in characters.

    Attributes:
        text: The text of the paragraph.
        target: The translation.
        links: Words that belong together.
        kept: Where the translation has kept texts.
    """

    text: str
    target: str
    links: WordLinks
    kept: KeptSpans

    def find(self, element: Element[Content], first: int, last: int, span: Range) -> Range:
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
        if part := self._find_part_of_word(element, first, last):
            a, b = (min(max(at, span[0]), span[1]) for at in part)
            return a, b
        a, b = words[first][0], words[last - 1][1]
        if element.is_kept:
            before, after = self._find_rest_of_word(element)
            if is_translatable(before + after):  # the rest of the word must not be lost
                return (b, b) if is_translatable(before) else (a, a)
        # Punctuation beside the element in the source stays outside of it, and punctuation in it inside. The mark
        # that ends the text stays outside, too, if the element moves there.
        inside, behind = text[element.start : element.end], text[element.end :].rstrip()
        moves_to_end = last == len(words) and behind and is_mark(behind[-1])
        if behind and (is_mark(text[element.end]) or moves_to_end) and not inside[-1].isspace():
            others = _count_marks(target[a:b][::-1]) - _count_marks(inside[::-1])
            b = max(a + 1, b - max(0, others))
        if element.start and is_mark(text[element.start - 1]) and not inside[0].isspace():
            others = _count_marks(target[a:b]) - _count_marks(inside)
            a = min(b - 1, a + max(0, others))
        a = min(max(a, span[0]), span[1])
        return a, min(max(b, a), span[1])

    def _find_rest_of_word(self, element: Element[Content]) -> tuple[str, str]:
        """Return what else is in the words that an element begins and ends in: before it, and behind it."""
        first, last = overlapped(self.links.source, (element.start, element.end))
        if first == last:
            return "", ""
        (start, _), (_, end) = self.links.source[first], self.links.source[last - 1]
        text = self.text
        return text[start : element.start], text[element.end : end]

    def _find_part_of_word(self, element: Element[Content], first: int, last: int) -> Span | None:
        """Return where the part of a word is that an element covers, such as the 2 in m2, if the word stays."""
        covered = overlapped(self.links.source, (element.start, element.end))
        if last - first != 1 or covered[1] - covered[0] != 1:
            return None
        own, other = self.links.source[covered[0]], self.links.target[first]
        if self.text[slice(*own)] != self.target[slice(*other)]:
            return None
        move = other[0] - own[0]
        return max(own[0], element.start) + move, min(own[1], element.end) + move


def _count_marks(text: str) -> int:
    """Return with how many punctuation marks a text begins."""
    return sum(1 for _ in takewhile(is_mark, text))
