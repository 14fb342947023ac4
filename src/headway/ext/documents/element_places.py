"""The characters of a translation that an inline element stands around, once its words are known.

Elements around a part of a word, such as the 2 in CO2, stand around the same part where the translation has the word.
Elements without text are images, line breaks and footnotes.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, Generic

from headway.ext.documents.paragraph import Content, Element
from headway.ext.protect import AMOUNT, overlapped
from headway.text import Span, WordLinks, is_translatable, is_word_alone

_MOST_MARKS = 8  # behind a footnote
_MOST_SPACES = 16  # between words
_SENTENCE_END = re.compile(r"(?:[.!?\u2026]|([。！？]))[\"'”’»)\]」』]{0,3}$")
_CLOSING = ".,;:!?)\u2026"  # no space stands before them, nor behind the end of a text
_LONGEST_END = 4  # characters of such an end


def is_mark(character: str) -> bool:
    """Return whether a character is punctuation."""
    return unicodedata.category(character).startswith("P")


def is_leading(text: str, place: int) -> bool:
    """Return whether only a space parts an element at the beginning of a text from the next word."""
    return place == 0 and text[:1].isspace()


def is_trailing(text: str, place: int) -> bool:
    """Return whether only a space parts an element at the end of a text from the last word."""
    return place == len(text) and text[-1:].isspace()


def is_behind_word(text: str, place: int) -> bool:
    """Return whether a place is behind the letters of a word, before its punctuation."""
    if not place or text[place - 1].isspace():
        return False
    if is_word_alone(text[place - 1]):
        return True
    rest = text[place : place + _MOST_MARKS]
    marks = next((n for n, character in enumerate(rest) if not is_mark(character)), len(rest))
    return marks == len(rest) or rest[marks].isspace()


def ends_sentence(text: str, place: int) -> bool:
    """Return whether a place is directly behind the punctuation at the end of a sentence."""
    end = _SENTENCE_END.search(text[max(0, place - _LONGEST_END) : place])
    rest = text[place : place + _MOST_SPACES]
    is_apart = not rest or rest[0].isspace() or (end is not None and end[1] is not None)
    return end is not None and is_apart and not rest.lstrip()[:1].islower()


def find_point(text: str, place: int, target: str, words: Sequence[Span], following: int) -> int:
    """Return the character of a translation before which an element without text stands.

    Args:
        text: The text.
        place: Where the element is in it.
        target: The translation.
        words: The words of the translation.
        following: The number of the word that follows the element there.
    """
    next_word = words[following][0] if following < len(words) else len(target)
    if (at := _find_among_spaces(text, place, target, next_word)) is not None:
        return at
    if is_leading(text, place):
        return 0
    if is_trailing(text, place):
        return len(target)
    if is_behind_word(text, place) and 0 < following <= len(words):
        at = words[following - 1][1]
        is_at_mark = is_mark(text[place : place + 1] or " ")
        if is_at_mark or not (is_mark(text[place - 1]) or is_word_alone(text[place - 1])):
            while at > 1 and is_mark(target[at - 1]):
                at -= 1
        return at
    at = words[following][0] if following < len(words) else len(target.rstrip())
    if at > 1 and target[at - 2 : at].isspace() and text[place : place + 1].isspace():
        at -= 1  # a space stays on each side
    return at


def _find_among_spaces(text: str, place: int, target: str, next_word: int) -> int | None:
    """Return the place among spaces before a word if the text has several elements among as many spaces."""
    if not 0 < place < len(text) or not (text[place - 1] + text[place]).isspace():
        return None
    before = text[max(0, place - _MOST_SPACES) : place]
    after = text[place : place + _MOST_SPACES]
    count = len(before) - len(before.rstrip()), len(after) - len(after.lstrip())
    start = next_word - sum(count)
    if start < 0 or sum(count) > _MOST_SPACES or target[start:next_word].strip():
        return None
    return start + count[0]


def find_missing_spaces(text: str, place: Span, target: str, at: int) -> tuple[str, str]:
    """Return the spaces around an element in the text that are missing at a point of the translation.

    Args:
        text: The text.
        place: The characters of the element in it.
        target: The translation.
        at: Where the element is put.
    """
    (start, end), previous, following = place, target[max(0, at - 1) : at], target[at : at + 1]
    own_previous, own_following = text[max(0, start - 1) : start], text[end : end + 1]
    has_text = start < end  # then it must not become part of a word
    # Nor must an image that a space parts from the word before it.
    is_apart = has_text or own_previous.isspace()
    needs_before = own_previous.isspace() or (
        has_text and previous.isalnum() and not own_previous.isalnum()
    )
    needs_after = own_following.isspace() or (
        is_apart and following.isalnum() and not own_following.isalnum()
    )
    before = " " if needs_before and previous and not previous.isspace() else ""
    is_closing = following.isspace() or following in _CLOSING
    after = " " if needs_after and not is_closing else ""
    return before, after


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
