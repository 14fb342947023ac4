"""Inline elements of a paragraph put around the right words of its translation.

Every element comes back once. The links of words decide where; what has no link keeps its relative place.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from headway.ext.documents.element_places import (
    count_marks,
    ends_sentence,
    find_missing_spaces,
    find_point,
    is_behind_word,
    is_mark,
    is_trailing,
)
from headway.ext.documents.paragraph import Element, Paragraph, Translated, walk
from headway.ext.documents.word_parts import WordParts
from headway.ext.protect import between, overlapped, translate_range
from headway.text import Span, WordLinks, is_translatable

# The first word of an element in the translation, the word behind it, and the element.
WordRange = tuple[int, int, Element]
Pairs = Sequence[tuple[int, int]]  # links of words


@dataclass(frozen=True)
class Placed:
    """An inline element in a translation.

    Attributes:
        element: The element of the paragraph.
        inner: What stands inside: text, and other elements.
    """

    element: Element
    inner: list["str | Placed"]


def place(paragraph: Paragraph, translated: Translated) -> list[str | Placed]:
    """Return the translation of a paragraph with the paragraph's elements around its words."""
    links = translated.links or WordLinks.between(paragraph.text, translated.text)
    placing = _Placing(paragraph, translated, links)
    words, own = (0, len(links.target)), (0, len(links.source))
    span = (0, len(translated.text))
    return placing.place(paragraph.elements, placing.pairs, own, words, span)


class _Placing:
    """A paragraph, its translation, and where its elements go."""

    def __init__(self, paragraph: Paragraph, translated: Translated, links: WordLinks) -> None:
        self._text, self._target, self._links = paragraph.text, translated.text, links
        text = paragraph.text
        self._ends = len(text) - len(text.lstrip()), len(text.rstrip())  # of its words
        self._kept = translated.kept
        self._spans = sorted((start, end, own) for own, (start, end) in translated.kept.items())
        self._elements = [*walk(paragraph.elements)]
        self._parts = WordParts(self._elements, self._text, self._target, links)
        self.pairs = self._choose_pairs()

    def _choose_pairs(self) -> list[tuple[int, int]]:
        """Return the links, sorted; a protected text is linked to itself, and to nothing else, as is a word that stays with its elements."""
        forced = self._parts.list_copied()
        for element in self._elements if self._kept else ():
            if kept := self._find_kept(element):
                own = overlapped(self._links.source, (element.start, element.end))
                words = overlapped(self._links.target, kept)
                forced |= set(zip(range(*own), range(*words), strict=False))
        if not forced:
            return sorted(self._links.pairs)
        sources, targets = ({pair[side] for pair in forced} for side in (0, 1))
        others = {(s, t) for s, t in self._links.pairs if s not in sources and t not in targets}
        return sorted(forced | others)

    def place(
        self, elements: Sequence[Element], pairs: Pairs, own: Span, words: Span, span: Span
    ) -> list[str | Placed]:
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
        out: list[str | Placed] = []
        at, word = span[0], words[0]
        # Inside an element only the links between its own words count.
        pairs = [(s, t) for s, t in between(pairs, own) if words[0] <= t < words[1]]
        found = _divide_elements(self._find_words(elements, pairs, own, words))
        for number, (first, last, element) in enumerate(found, 1):
            place = (element.start, element.end)
            is_apart = place in self._parts.words
            if number > 1 and not is_apart and _can_share(found[number - 2], found[number - 1]):
                # Both are around the same words, so that neither is empty.
                out.append(Placed(element, [out.pop()]))
                continue
            first = max(first, word)
            last = max(first, last)
            a, b = self._find_span(element, first, last, (at, span[1]))
            if a < b and not element.is_kept:
                a, b = self._leave_out_others(place, (a, b))
                last = max(first, min(last, overlapped(self._links.target, (a, b))[1]))
            out += self._write_text(at, a)
            before = after = ""
            is_point = element.start == element.end and span[0] < span[1]
            if is_point or (element.is_kept and a == b):
                before, after = find_missing_spaces(self._text, place, self._target, a)
            out += [before] if before else []
            inner: list[str | Placed]
            if element.is_kept:
                inner = [self._text[element.start : element.end]]
            else:
                covered = overlapped(self._links.source, place)
                inner = self.place(element.inner, pairs, covered, (first, last), (a, b))
            out.append(Placed(element, inner))
            out += [after] if after else []
            is_part = element.is_kept or is_apart
            is_part = is_part and first < last and b < self._links.target[last - 1][1]
            at, word = b, last - is_part  # another element may have the rest of the word
        return out + self._write_text(at, span[1])

    def _write_text(self, start: int, end: int) -> list[str | Placed]:
        """Return a part of the translation, if it has text; protected texts are written by their elements."""
        text, at = "", start
        for a, b, _ in self._list_kept(start, end):
            text, at = text + self._target[at:a], b
            if text[-1:].isspace() and self._target[at : at + 1].isspace():
                at += 1
        text += self._target[at:end]
        return [text] if text else []

    def _find_kept(self, element: Element) -> Span | None:
        """Return where the translation has the text of an element that is kept, if it has it."""
        is_kept = element.is_kept and element.start < element.end
        return self._kept.get(element.start) if is_kept else None

    def _list_kept(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Return the protected texts that begin in a range: start, end, and where it starts in the paragraph."""
        return self._spans[bisect_left(self._spans, (start,)) : bisect_left(self._spans, (end,))]

    def _leave_out_others(self, own: Span, span: Span) -> Span:
        """Return a range of the translation for an element, without the protected texts of other elements.

        It ends before the first of these, or begins behind one that it would begin with.

        Args:
            own: Where the element is in the paragraph.
            span: The range with them.
        """
        start, end = span
        for a, b, place in self._list_kept(start, end):
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

    def _find_words(
        self, elements: Sequence[Element], pairs: Pairs, own: Span, words: Span
    ) -> list[WordRange]:
        """Return each element after its range of target words, in the order of the translation."""
        placed: list[WordRange] = []
        starts: dict[int, int] = {}  # of protected texts, in the translation
        places: dict[Span, Span] = {}  # several elements can cover the same words
        extents: dict[int, Span] = {}  # of the source words that each target word translates
        for source, target in pairs:  # sorted by the source
            extents[target] = extents.get(target, (source, 0))[0], source + 1
        for element in elements:
            covered = overlapped(self._links.source, (element.start, element.end))
            if kept := self._find_kept(element):
                placed.append((*overlapped(self._links.target, kept), element))
                starts[element.start] = kept[0]
                continue
            if element.start == element.end:
                at = self._find_word_of_point(element, pairs, covered[0], own, words)
                placed.append((at, at, element))
                continue
            inside = self._text[element.start : element.end]
            if all(map(is_mark, inside)) and ends_sentence(self._text, element.end):
                last = min(words[1], self._find_sentence_end(covered[1]))
                placed.append((max(words[0], last - 1), last, element))
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

        def order(item: WordRange) -> tuple[int, int, int, bool]:
            # Elements at one place keep the order of the source, but for protected texts in one word.
            first, last, element = item
            following = self._links.target[first : first + 1]
            begin = following[0][0] if following else len(self._target)
            return first, last, starts.get(element.start, begin), element.start not in starts

        placed.sort(key=order)
        return placed

    @cached_property
    def _borders(self) -> list[Span]:
        """For each source word the words that follow the translations of all before it, and precede all others."""
        count = len(self._links.source)
        last, first = [-1] * (count + 1), [len(self._links.target)] * (count + 1)
        for source, target in self.pairs:
            last[source + 1] = max(last[source + 1], target)
            first[source] = min(first[source], target)
        befores = [target + 1 for target in accumulate(last, max)]
        afters = [*accumulate(reversed(first), min)][::-1]
        return [*zip(befores, afters, strict=True)]

    def _find_sentence_end(self, following: int) -> int:
        """Return the target word behind the sentence that the source ends before a word."""
        begin, end = self._borders[following]
        words = self._links.target
        ends = (
            word
            for word in range(end, max(begin, 1) - 1, -1)
            if ends_sentence(self._target, words[word - 1][1])
        )
        return next(ends, max(begin, end))

    def _find_word_of_point(
        self, element: Element, pairs: Pairs, following: int, own: Span, words: Span
    ) -> int:
        """Return the target word before which an element without text stands.

        Behind the punctuation of a sentence it stays there. It follows the source word that it is attached to, such as a
        footnote, or else precedes the translation of the next source word. At the beginning of the text it stays there, and so does the end of a
        range at the end of the text: the range has other paragraphs, too. Without links it keeps its relative place.
        """
        text, last = self._text, words[1]
        if element.start == 0:
            return 0
        is_last = element.start == len(text) and element.kind == "end"
        if is_last or is_trailing(text, element.start):
            return last
        if ends_sentence(text, element.start):
            return min(last, self._find_sentence_end(following))
        if is_behind_word(text, element.start):
            word = bisect_left(self._links.source, element.start, key=lambda word: word[0]) - 1
            linked = between(pairs, (word, word + 1))
            if linked:
                return linked[-1][1] + 1
            following = word + 1
        if not pairs:
            return translate_range(pairs, (following, following), own, words)[0]
        next_pair = bisect_left(pairs, (following, 0))
        return pairs[next_pair][1] if next_pair < len(pairs) else last

    def _find_span(self, element: Element, first: int, last: int, span: Span) -> Span:
        """Return where an element starts and ends.

        Args:
            element: The element.
            first: Its first word in the translation.
            last: The word behind it.
            span: The characters of the translation that are free for it.
        """
        words, target, text = self._links.target, self._target, self._text
        if kept := self._find_kept(element):
            if span[0] <= kept[0] and kept[1] <= span[1]:
                return kept
            at = min(max(kept[0], span[0]), span[1])  # it stays in the element around it
            return at, at
        if element.start == element.end or first >= last or first >= len(words):
            at = find_point(text, element.start, target, words, first)
            at = min(max(at, span[0]), span[1])
            return at, at
        a, b = words[first][0], words[last - 1][1]
        if part := self._parts.find(element, (a, b)):
            a, b = (min(max(at, span[0]), span[1]) for at in part)
            return a, b
        if element.is_kept:
            before, after = self._find_rest_of_word(element)
            if is_translatable(before + after):  # the rest of the word must not be lost
                return (b, b) if is_translatable(before) else (a, a)
        if element.start <= self._ends[0] and self._ends[1] <= element.end:
            return span  # around all of the text
        # Punctuation in the element stays inside of it, and all other outside.
        inside = text[element.start : element.end]
        if not inside[-1].isspace():
            others = count_marks(target[a:b][::-1]) - count_marks(inside[::-1])
            b = max(a + 1, b - max(0, others))
        if not inside[0].isspace():
            others = count_marks(target[a:b]) - count_marks(inside)
            a = min(b - 1, a + max(0, others))
        a = min(max(a, span[0]), span[1])
        return a, min(max(b, a), span[1])

    def _find_rest_of_word(self, element: Element) -> tuple[str, str]:
        """Return what else is in the words that an element begins and ends in: before it, and behind it."""
        first, last = overlapped(self._links.source, (element.start, element.end))
        if first == last:
            return "", ""
        (start, _), (_, end) = self._links.source[first], self._links.source[last - 1]
        text = self._text
        return text[start : element.start], text[element.end : end]


def _can_share(before: WordRange, own: WordRange) -> bool:
    """Return whether an element can stand around the element before it, which has all of its words."""
    (first, last, other), (own_first, own_last, element) = before, own
    is_inside = first <= own_first < own_last <= last
    has_text = element.start < element.end and other.start < other.end
    is_free = not (element.is_kept or other.is_kept or element.inner)
    return is_inside and has_text and is_free and "" != element.kind != other.kind != ""


def _divide_elements(found: Sequence[WordRange]) -> list[WordRange]:
    """Return elements so that those that can be divided have no words of others.

    In ``<span>A man plays </span><span>guitar</span><span> on the street</span>`` the translation may have the guitar at
    the end, or in the middle, of the words of the last element. An element with others inside stays whole.

    Args:
        found: Elements, sorted by their words.
    """
    others = [each for each in found if each[0] < each[1] and not each[2].is_kept]
    starts = [first for first, _, _ in others]
    divided = []
    # The number tells elements with the same words apart.
    for number, (first, last, element) in enumerate(found):
        at, other = first, bisect_right(starts, first)
        while (
            _is_divisible((at, last, element)) and other < len(others) and others[other][1] <= last
        ):
            divided.append((at, others[other][0], number))
            at = others[other][1]
            other = bisect_right(starts, at)
        if at == first or at < last:
            divided.append((at, last, number))
    return [(first, last, found[number][2]) for first, last, number in sorted(divided)]


def _is_divisible(item: WordRange) -> bool:
    first, last, element = item
    return first < last and element.is_divisible and not element.inner
