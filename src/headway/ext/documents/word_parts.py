"""Elements around a part of a word, such as the 2 in CO2: they stay around the same part if the word stays."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from headway.ext.documents.element_places import ends_sentence, strip_marks
from headway.ext.documents.paragraph import Element
from headway.ext.protect import overlapped
from headway.text import Span, WordLinks


class WordParts:
    """The elements of a paragraph that are around a part of a word, or of the marks beside one, which are no part of it.

    Args:
        elements: All elements of the paragraph.
        text: Its text.
        target: The translation.
        links: The words of both.

    Attributes:
        words: The number of the word of each such element, by the element's place.
    """

    def __init__(
        self, elements: Iterable[Element], text: str, target: str, links: WordLinks
    ) -> None:
        self._text, self._target, self._links = text, target, links
        self.words: dict[Span, int] = {}
        self._counts = Counter[int]()  # of such elements in each word, but for protected texts
        self._attached = set[int]()  # words behind or in which an element without text stands
        for element in elements:
            place = element.start, element.end
            if element.start == element.end:
                around = overlapped(links.source, (element.start - 1, element.end))
                self._attached.update(range(*around))
                continue
            first, last = overlapped(links.source, place)
            if last - first == 1:
                start, end = strip_marks(text, links.source[first])
                is_inside = start < element.start < end or start < element.end < end
                if not is_inside and start < end and (element.end <= start or end <= element.start):
                    self.words[place] = first  # of the marks beside a word
                if is_inside:
                    self._counts[first] += place not in self.words and not element.is_kept
                    self.words[place] = first

    def list_copied(self) -> set[tuple[int, int]]:
        """Return the links of the words with such elements, or with ones without text, that the translation has as they are."""
        if not self.words and not self._attached:
            return set()
        places: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._links.target):
            places[self._target[slice(*strip_marks(self._target, word))]].append(number)
        found: set[tuple[int, int]] = set()
        seen: Counter[str] = Counter()
        for number, word in enumerate(self._links.source):
            core = self._text[slice(*strip_marks(self._text, word))]
            has_element = self._counts[number] or number in self._attached
            if has_element and core and seen[core] < len(places[core]):
                found.add((number, places[core][seen[core]]))
            seen[core] += 1
        return found

    def find(self, element: Element, span: Span) -> Span | None:
        """Return where an element stands in the translation of its word; None: around all of it.

        It stands around the same characters of a word that stays, and marks beside a word stay beside it. Several elements
        in a word that does not stay divide it.

        Args:
            element: The element.
            span: The translation of its word.
        """
        word = self.words.get((element.start, element.end))
        if word is None:
            return None
        start, end = strip_marks(self._text, self._links.source[word])
        at, last = strip_marks(self._target, span)
        if element.end <= start:
            return span[0], at
        if end <= element.start:
            is_other = ends_sentence(self._target, span[1]) > ends_sentence(self._text, element.end)
            return last, last if is_other else span[1]
        own = max(start, element.start) - start, min(end, element.end) - start
        same = self._target.find(self._text[start:end], *span)
        if same >= 0:
            return same + own[0], same + own[1]
        if self._counts[word] == 1 or element.is_kept:
            return None
        first, behind = (round(place * (last - at) / (end - start)) for place in own)
        return at + first, at + max(first + 1, behind)
