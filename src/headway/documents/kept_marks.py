"""Kept texts of a paragraph, such as code and fields, each written as one character for the translation.

A model would translate such a text like the words around it, and it could be lost or take the place of other words.
The character is of Unicode's private use area, which `headway.text.kept_text` keeps in the right place.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from headway.documents.paragraph import Element, Paragraph
from headway.text.kept_text import PRIVATE_USE
from headway.text.word_links import WordLinks
from headway.text.words import Span


class KeptMarks:
    """A paragraph with a character in the place of each kept text.

    Args:
        paragraph: The paragraph.
        is_used: Whether kept texts are marked; otherwise the text stays as it is.

    Attributes:
        text: What is translated.
    """

    def __init__(self, paragraph: Paragraph[Any], is_used: bool = True) -> None:
        own = paragraph.text
        kept = [*_outermost(paragraph.elements)] if is_used else []
        used = set(own) if kept else set()
        free = (c for c in map(chr, range(*PRIVATE_USE)) if c not in used)
        self._kept: dict[str, str] = {}
        parts, at = [], 0
        for element, mark in zip(kept, free, strict=False):
            self._kept[mark] = own[element.start : element.end]
            parts += [own[at : element.start], mark]
            at = element.end
        self.text = "".join([*parts, own[at:]])

    def expand(self, text: str) -> str:
        """Return a text with the kept texts in the places of their characters."""
        return "".join(self._kept.get(character, character) for character in text)

    def expand_links(self, links: WordLinks, translation: str) -> WordLinks:
        """Return the links of the expanded texts.

        Args:
            links: Between `text` and its translation.
            translation: With the characters.
        """
        source = _move(links.source, self.places(self.text))
        return WordLinks(source, _move(links.target, self.places(translation)), links.pairs)

    def places(self, text: str) -> list[int]:
        """Return where each character of a text is in the expanded text, and where that ends."""
        lengths = (len(self._kept.get(character, character)) for character in text)
        return [0, *accumulate(lengths)]


def _move(spans: Sequence[Span], places: Sequence[int]) -> list[Span]:
    return [(places[start], places[end]) for start, end in spans]


def _outermost(elements: Sequence[Element[Any]]) -> Iterator[Element[Any]]:
    """Yield the kept elements with text, but none inside of another one."""
    for element in elements:
        if element.is_kept and element.start < element.end:
            yield element
        else:
            yield from _outermost(element.inner)
