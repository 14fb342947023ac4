"""Protected texts of a paragraph, such as code and fields, each written as one character for the translation.

A model would translate such a text like the words around it, and it could be lost or take the place of other words.
The character is of Unicode's private use area, which `headway.ext.protect.protected_text` keeps in the right place.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.protect import PRIVATE_USE
from headway.text import Span, WordLinks


class KeptMarks:
    """A paragraph with a character in the place of each protected text.

    Args:
        paragraph: The paragraph.
        is_used: Whether protected texts are marked; otherwise the text stays as it is.

    Attributes:
        text: What is translated.
    """

    def __init__(self, paragraph: Paragraph[Any], is_used: bool = True) -> None:
        own = paragraph.text
        kept = paragraph.kept if is_used else []
        used = set(own) if kept else set()
        free = (c for c in map(chr, range(*PRIVATE_USE)) if c not in used)
        self._kept: dict[str, str] = {}
        self._starts: dict[str, int] = {}
        parts, at = [], 0
        for (start, end), mark in zip(kept, free, strict=False):
            self._kept[mark], self._starts[mark] = own[start:end], start
            parts += [own[at:start], mark]
            at = end
        self.text = "".join([*parts, own[at:]])

    def expand(self, translated: Translated) -> Translated:
        """Return the translation of the paragraph; a protected text that it has twice stays where it is first.

        Args:
            translated: The translation of `text`.
        """
        if not self._kept:  # without an object for each character
            return Translated(translated.text, translated.links)
        pieces, links = self._pieces(translated.text), translated.links
        places = [0, *accumulate(map(len, pieces))]
        kept: dict[int, Span] = {}
        for at, mark in enumerate(translated.text):
            if mark in self._starts:
                kept.setdefault(self._starts[mark], (places[at], places[at + 1]))
        if links is not None:
            source = _move(links.source, self.places(self.text))
            links = WordLinks(source, _move(links.target, places), links.pairs)
        return Translated("".join(pieces), links, kept)

    def expand_text(self, text: str) -> str:
        """Return a text with the protected texts in the places of their characters."""
        return "".join(self._pieces(text))

    def places(self, text: str) -> Sequence[int]:
        """Return where each character of a text is in the expanded text, and where that ends."""
        if not self._kept:
            return range(len(text) + 1)
        return [0, *accumulate(map(len, self._pieces(text)))]

    def _pieces(self, text: str) -> list[str]:
        """Return what takes the place of each character of a text."""
        used: set[str] = set()
        pieces = []
        for character in text:
            pieces.append("" if character in used else self._kept.get(character, character))
            if character in self._kept:
                used.add(character)
        return pieces


def _move(spans: Sequence[Span], places: Sequence[int]) -> list[Span]:
    return [(places[start], places[end]) for start, end in spans]
