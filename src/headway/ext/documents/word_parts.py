"""Elements around a part of a word, such as the 2 in CO2: they stand around the same part where the translation has the word."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from headway.ext.documents.paragraph import Element
from headway.ext.documents.points import is_mark
from headway.ext.protect import overlapped
from headway.text import Span, WordLinks


class WordParts:
    """The elements of a paragraph that stand around a part of a word; the marks beside a word are no part of it.

    Args:
        text: The text of the paragraph.
        target: Its translation.
        links: Their words.
        elements: All elements of the paragraph.
    """

    def __init__(
        self, text: str, target: str, links: WordLinks, elements: Iterable[Element[Any]]
    ) -> None:
        self._text, self._target, self._links = text, target, links
        self._words: dict[Span, int] = {}  # of each element that is a part of a word, by its place
        self._counts = Counter[int]()  # of such elements of each word, but for protected texts
        self._attached = set[int]()  # words behind or in which an element without text stands
        for element in elements:
            place = element.start, element.end
            if element.start == element.end:
                self._attached |= {
                    *range(*overlapped(links.source, (element.start - 1, element.end)))
                }
                continue
            first, last = overlapped(links.source, place)
            if last - first == 1:
                start, end = _strip_marks(text, links.source[first])
                if start < element.start < end or start < element.end < end:
                    self._counts[first] += place not in self._words and not element.is_kept
                    self._words[place] = first

    def __contains__(self, element: Element[Any]) -> bool:
        """Return whether an element is a part of a word."""
        return (element.start, element.end) in self._words

    def list_copied(self) -> set[tuple[int, int]]:
        """Return the links of the words with such elements, or with ones without text, that the translation has as they are."""
        if not (self._words or self._attached):
            return set()
        places: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._links.target):
            places[self._target[slice(*_strip_marks(self._target, word))]].append(number)
        found: set[tuple[int, int]] = set()
        seen: Counter[str] = Counter()
        for number, word in enumerate(self._links.source):
            core = self._text[slice(*_strip_marks(self._text, word))]
            has_element = self._counts[number] or number in self._attached
            if has_element and core and seen[core] < len(places[core]):
                found.add((number, places[core][seen[core]]))
            seen[core] += 1
        return found

    def find(self, element: Element[Any], span: Span) -> Span | None:
        """Return where an element stands in the translation of its word; None: around all of it.

        It stands around the same characters of a word that stays. Several elements in a word that does not stay divide it.

        Args:
            element: The element.
            span: The translation of its word.
        """
        word = self._words.get((element.start, element.end))
        if word is None:
            return None
        start, end = _strip_marks(self._text, self._links.source[word])
        own = max(start, element.start) - start, min(end, element.end) - start
        at = self._target.find(self._text[start:end], *span)
        if at >= 0:
            return at + own[0], at + own[1]
        if self._counts[word] == 1 or element.is_kept:
            return None
        at, last = _strip_marks(self._target, span)
        first, behind = (round(place * (last - at) / (end - start)) for place in own)
        return at + first, at + max(first + 1, behind)


def _strip_marks(text: str, span: Span) -> Span:
    """Return a range without the punctuation at its ends."""
    start, end = span
    while start < end and is_mark(text[start]):
        start += 1
    while start < end and is_mark(text[end - 1]):
        end -= 1
    return start, end
