"""Texts of a spreadsheet that must stay, or that must have one translation, so that it computes the same numbers.

Formulas, criteria, choice lists, filters and pivot tables compare texts of cells with each other and with texts of their
own. The latter are not translated; so a cell with such a text stays. Else it is enough that equal texts stay equal, and
different ones different.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headway.ext.documents.paragraph import Paragraph, Translated

# What compares texts in a formula, and what looks into them.
_COMPARING = re.compile(
    r"[<>=]|\b(?:\w*IFS?|X?MATCH|[VHX]?LOOKUP|EXACT|SWITCH|SEARCHB?|FINDB?|SUBSTITUTE|D[A-Z]+|FILTER|GETPIVOTDATA|INDIRECT)\s*\("
)
_INSIDE = re.compile(r"\b(?:SEARCHB?|FINDB?|LEFTB?|RIGHTB?|MIDB?|SUBSTITUTE|REPLACE)\s*\(")
_TEXT = re.compile(r'"((?:[^"]|"")*+)"')
_OPERATOR = re.compile(r"^[<>=]+")
_WILD = re.compile(r"[*?]+")
_COLUMN = re.compile(
    r"\[@?([^\[\]]+)\]"
)  # a name in a formula: `Sales[Price]`, `[@Price]`, `Sales[[#This Row],[Price]]`
_MOST_PARTS = 100  # with more parts of texts, every text stays


@dataclass
class ComparedTexts:
    """The texts with which a spreadsheet compares those of its cells, without capitals.

    Attributes:
        texts: Whole texts.
        parts: What may stand in a text.
        is_used: Whether anything compares texts of cells.
    """

    texts: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    is_used: bool = False

    def add_formula(self, source: str) -> None:
        """Add the texts in a formula that compares, and the names of columns."""
        self.add(_COLUMN.findall(source))
        if not _COMPARING.search(source):
            return
        self.is_used = True
        looks_inside = _INSIDE.search(source)
        for found in _TEXT.findall(source):
            text = _OPERATOR.sub("", found.replace('""', '"'))
            pieces = [piece for piece in _WILD.split(text) if piece.strip()]
            if looks_inside or [text] != pieces:
                self.parts.update(map(_fold, pieces))
            else:
                self.texts.add(_fold(text))

    def add(self, texts: Iterable[str]) -> None:
        """Add whole texts."""
        found = {*map(_fold, texts)} - {""}
        self.texts |= found
        self.is_used |= bool(found)

    def keeps(self, text: str) -> bool:
        """Return whether a text stays."""
        folded = _fold(text)
        are_many = len(self.parts) > _MOST_PARTS
        return folded in self.texts or are_many or any(part in folded for part in self.parts)

    def agree(
        self, paragraphs: Sequence[Paragraph[Any]], translations: Sequence[Translated]
    ) -> Sequence[Translated]:
        """Return the translations with one for each text, and different ones for different texts.

        A text stays as it is if another text has the same translation, or if its translation has no words: the names of
        columns must differ, and must not be empty.

        Args:
            paragraphs: The texts of the spreadsheet.
            translations: One for each of them.
        """
        if not self.is_used:
            return translations
        both = [
            (own.text.casefold(), new) for own, new in zip(paragraphs, translations, strict=True)
        ]
        owners = {key: key for key, new in both if new.text.casefold() == key}
        chosen: dict[str, Translated] = {}
        for (key, new), own in zip(both, paragraphs, strict=True):
            folded = new.text.casefold()
            is_free = folded.strip() and not self.keeps(new.text)
            if not is_free or owners.setdefault(folded, key) != key:
                new = Translated(own.text)
            chosen.setdefault(key, new)
        return [
            new if new.text.casefold() == chosen[key].text.casefold() else chosen[key]
            for key, new in both
        ]


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def name_column(number: int) -> str:
    """Return the letters of a column, which is numbered from 1."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
