"""Inline elements of a paragraph put around the right words of its translation.

Every element comes back once. The links of words decide where; what has no link keeps its relative place.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate
from typing import Generic

from headway.ext.documents.element_places import (
    ElementPlaces,
    KeptSpans,
    WordParts,
    ends_sentence,
    find_missing_spaces,
    is_behind_word,
    is_trailing,
)
from headway.ext.documents.paragraph import Content, Element, Paragraph, Translated, walk
from headway.ext.protect import between, overlapped, translate_range
from headway.text import Span, WordLinks

# The first word of an element in the translation, the word behind it, and the element.
WordRange = tuple[int, int, Element[Content]]


@dataclass(frozen=True)
class Placed(Generic[Content]):
    """An inline element in a translation.

    Attributes:
        element: The element of the paragraph.
        inner: What stands inside: text, and other elements.
    """

    element: Element[Content]
    inner: list["str | Placed[Content]"]


def place(paragraph: Paragraph[Content], translated: Translated) -> list[str | Placed[Content]]:
    """Return the translation of a paragraph with the paragraph's elements around its words."""
    links = translated.links or WordLinks.between(paragraph.text, translated.text)
    placing = _Placing(paragraph, translated.text, links, translated.kept)
    words, own = (0, len(links.target)), (0, len(links.source))
    span = (0, len(translated.text))
    return placing.place(paragraph.elements, placing.pairs, own, words, span)


@dataclass(frozen=True)
class _Placing(Generic[Content]):
    """A paragraph, its translation and their links."""

    paragraph: Paragraph[Content]
    target: str
    links: WordLinks
    kept: Mapping[int, Span]

    @cached_property
    def _spans(self) -> KeptSpans:
        return KeptSpans(self.target, self.kept)

    @cached_property
    def _places(self) -> ElementPlaces[Content]:
        return ElementPlaces(self.paragraph.text, self.target, self.links, self._spans, self._parts)

    @cached_property
    def _parts(self) -> WordParts:
        elements = walk(self.paragraph.elements)
        return WordParts(self.paragraph.text, self.target, self.links, elements)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The links, sorted; a protected text is linked to itself, and to nothing else, as is a word that stays with its elements."""
        forced = self._parts.list_copied()
        for element in walk(self.paragraph.elements) if self.kept else ():
            if kept := self._spans.find(element):
                own = overlapped(self.links.source, (element.start, element.end))
                words = overlapped(self.links.target, kept)
                forced |= set(zip(range(*own), range(*words), strict=False))
        if not forced:
            return sorted(self.links.pairs)
        sources, targets = ({pair[side] for pair in forced} for side in (0, 1))
        others = {(s, t) for s, t in self.links.pairs if s not in sources and t not in targets}
        return sorted(forced | others)

    def place(
        self,
        elements: Sequence[Element[Content]],
        pairs: Sequence[tuple[int, int]],
        own: Span,
        words: Span,
        span: Span,
    ) -> list[str | Placed[Content]]:
        """Return a part of the translation with elements around its words.

        Args:
            elements: The elements of this part; those inside of them are placed, too.
            pairs: Sorted links.
            own: The source words of this part.
            words: The target words of this part.
            span: The characters of this part in the translation.
        """
        if not elements:
            return self._write_text(*span)
        out: list[str | Placed[Content]] = []
        at, word = span[0], words[0]
        # Inside an element only the links between its own words count.
        pairs = [(s, t) for s, t in between(pairs, own) if words[0] <= t < words[1]]
        found = _divide_elements(self._find_words(elements, pairs, own, words))
        for number, (first, last, element) in enumerate(found, 1):
            is_apart = element in self._parts
            if number > 1 and not is_apart and _can_share(found[number - 2], found[number - 1]):
                # Both are around the same words, so that neither is empty.
                out.append(Placed(element, [out.pop()]))
                continue
            first = max(first, word)
            last = max(first, last)
            a, b = self._places.find(element, first, last, (at, span[1]))
            if a < b and not element.is_kept:
                a, b = self._spans.leave_out_others((element.start, element.end), (a, b))
                last = max(first, min(last, overlapped(self.links.target, (a, b))[1]))
            out += self._write_text(at, a)
            before = after = ""
            is_point = element.start == element.end and span[0] < span[1]
            if is_point or (element.is_kept and a == b):
                place = (element.start, element.end)
                before, after = find_missing_spaces(self.paragraph.text, place, self.target, a)
            out += [before] if before else []
            inner: list[str | Placed[Content]]
            if element.is_kept:
                inner = [self.paragraph.text[element.start : element.end]]
            else:
                covered = overlapped(self.links.source, (element.start, element.end))
                inner = self.place(element.inner, pairs, covered, (first, last), (a, b))
            out.append(Placed(element, inner))
            out += [after] if after else []
            is_part = element.is_kept or is_apart
            is_part = is_part and first < last and b < self.links.target[last - 1][1]
            at, word = b, last - is_part  # another element may have the rest of the word
        return out + self._write_text(at, span[1])

    def _write_text(self, start: int, end: int) -> list[str | Placed[Content]]:
        """Return a part of the translation, if it has text; protected texts are written by their elements."""
        text = self._spans.cut(start, end)
        return [text] if text else []

    def _find_words(
        self,
        elements: Sequence[Element[Content]],
        pairs: Sequence[tuple[int, int]],
        own: Span,
        words: Span,
    ) -> list[WordRange[Content]]:
        """Return each element after its range of target words, in the order of the translation."""
        placed: list[WordRange[Content]] = []
        starts: dict[int, int] = {}  # of protected texts, in the translation
        places: dict[Span, Span] = {}  # several elements can cover the same words
        extents: dict[int, Span] = {}  # of the source words that each target word translates
        for source, target in pairs:  # sorted by the source
            extents[target] = extents.get(target, (source, 0))[0], source + 1
        for element in elements:
            covered = overlapped(self.links.source, (element.start, element.end))
            if kept := self._spans.find(element):
                placed.append((*overlapped(self.links.target, kept), element))
                starts[element.start] = kept[0]
                continue
            if element.start == element.end:
                at = self._find_word_of_point(element, pairs, covered[0], words[1])
                placed.append((at, at, element))
                continue
            if covered not in places:
                places[covered] = translate_range(pairs, covered, own, words)
            first, last = places[covered]
            if first == last == words[1] > words[0]:
                first -= 1  # without a link, an element at the end has the last word
            others = any(
                extents[word][0] < covered[0] or extents[word][1] > covered[1]
                for word in range(first, last)
                if word in extents
            )
            is_linked = covered == own or bool(between(pairs, covered))
            is_whole = (first, last) == words and covered != own
            if element.is_kept and (others or is_whole or not is_linked):
                last = first  # to replace the words would lose the translation of others
            placed.append((first, last, element))
        # Elements at one place keep the order of the source, but for protected texts in one word.
        begins = [*(start for start, _ in self.links.target), len(self.target)]

        def order(item: WordRange[Content]) -> tuple[int, int, int, bool]:
            first, last, element = item
            start = starts.get(element.start, begins[first])
            return first, last, start, element.start not in starts

        placed.sort(key=order)
        return placed

    @cached_property
    def _borders(self) -> list[Span]:
        """For each source word the words that follow the translations of all before it, and precede all others."""
        count = len(self.links.source)
        last, first = [-1] * (count + 1), [len(self.links.target)] * (count + 1)
        for source, target in self.pairs:
            last[source + 1] = max(last[source + 1], target)
            first[source] = min(first[source], target)
        befores = [target + 1 for target in accumulate(last, max)]
        afters = [*accumulate(reversed(first), min)][::-1]
        return [*zip(befores, afters, strict=True)]

    def _find_sentence_end(self, following: int) -> int:
        """Return the target word behind the sentence that the source ends before a word."""
        begin, end = self._borders[following]
        words = self.links.target
        ends = (
            word
            for word in range(end, max(begin, 1) - 1, -1)
            if ends_sentence(self.target, words[word - 1][1])
        )
        return next(ends, max(begin, end))

    def _find_word_of_point(
        self, element: Element[Content], pairs: Sequence[tuple[int, int]], following: int, last: int
    ) -> int:
        """Return the target word before which an element without text stands.

        Behind the punctuation of a sentence it stays there. It follows the source word that it is attached to, such as a
        footnote, or else precedes the translation of the next source word. At the beginning of the text it stays there, and so does the end of a
        range at the end of the text: the range has other paragraphs, too.
        """
        text = self.paragraph.text
        if element.start == 0:
            return 0
        is_last = element.start == len(text) and element.kind == "end"
        if is_last or is_trailing(text, element.start):
            return last
        if ends_sentence(text, element.start):
            return min(last, self._find_sentence_end(following))
        if is_behind_word(text, element.start):
            word = bisect_left(self.links.source, element.start, key=lambda word: word[0]) - 1
            linked = between(pairs, (word, word + 1))
            if linked:
                return linked[-1][1] + 1
        next_pair = bisect_left(pairs, (following, 0))
        return pairs[next_pair][1] if next_pair < len(pairs) else last


def _can_share(before: WordRange[Content], own: WordRange[Content]) -> bool:
    """Return whether an element can stand around the element before it, which has all of its words."""
    (first, last, other), (own_first, own_last, element) = before, own
    is_inside = first <= own_first < own_last <= last
    has_text = element.start < element.end and other.start < other.end
    is_free = not (element.is_kept or other.is_kept or element.inner)
    return is_inside and has_text and is_free and "" != element.kind != other.kind != ""


def _divide_elements(found: Sequence[WordRange[Content]]) -> list[WordRange[Content]]:
    """Return elements so that those that can be divided have no words of others.

    In ``<span>A man plays </span><span>guitar</span><span> on the street</span>`` the translation may have the guitar at
    the end, or in the middle, of the words of the last element. An element with others inside stays whole.

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
