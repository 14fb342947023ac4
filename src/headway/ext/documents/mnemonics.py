"""Mnemonics of menus and buttons: taken out of a message before its translation, and put back into it.

A mnemonic is the letter that Alt and a key choose: ``&Open`` in Qt and wxWidgets, ``_Open`` in GTK.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.protect import find_protected_text

# Chinese, Japanese and Korean words lack the letters of the keys: there it stands behind them in brackets, 打开(&O).
_IN_BRACKETS = re.compile(r"(?<![%$\s])\s*+\(([&_])([A-Za-z])\)")
_BEFORE_LETTER = re.compile(r"(?!&\w+[;=])([&_])(?=([^\W\d_]))")
_WORD = re.compile(r"\w+")
_LETTERS, _LETTERS_BEFORE = re.compile(r"[^\W\d_]+(?!\w)"), re.compile(r"(?<!\w)[^\W\d_]+\Z")
_FEW_LETTERS = 3  # of a word, before a mnemonic inside
_LONGEST_LABEL = 40  # in characters; a longer text has no mnemonic inside a word
_ENDS = " .…:：。"  # stand behind these brackets


class Mnemonic(NamedTuple):
    """The mnemonic of a message.

    Attributes:
        mark: ``&`` or ``_``.
        letter: The letter behind it.
        paragraphs: The message without it, and with its protected texts.
        place: Where the message has it.
        width: Its characters there, with its brackets.
    """

    mark: str
    letter: str
    paragraphs: Sequence[Paragraph]
    place: int
    width: int

    def write(self, translations: Sequence[Translated]) -> Translated:
        """Return the translation of the text with the mark.

        The mark stands before the same letter, at best where a word begins, or else before the first letter.
        """
        [translated] = translations
        text = translated.text
        spans = [*translated.kept.values(), *(part[:2] for part in find_protected_text(text))]
        at, mark = self._find_place(text, {at for span in spans for at in range(*span)})
        kept = {
            start + self.width * (start >= self.place): (
                a + len(mark) * (a >= at),
                b + len(mark) * (b > at),
            )
            for start, (a, b) in translated.kept.items()
        }
        return Translated(text[:at] + mark + text[at:], kept=kept)

    def _find_place(self, text: str, kept: set[int]) -> tuple[int, str]:
        """Return where the mark of a translation stands, and the mark.

        Args:
            text: The translation.
            kept: The places of protected texts in it.
        """
        letters = [at for at, c in enumerate(text) if c.isalpha() and at not in kept]

        def rank(at: int) -> tuple[bool, bool, int]:
            is_other = text[at].casefold() != self.letter.casefold()
            return is_other, text[at - 1 : at].isalnum(), at

        if not letters:
            return 0, ""
        is_other, _, at = rank(min(letters, key=rank))
        if is_other and unicodedata.east_asian_width(text[at]) == "W":
            return len(text.rstrip(_ENDS)), f"({self.mark}{self.letter.upper()})"
        return at, self.mark


def read_mnemonic(paragraph: Paragraph) -> Mnemonic | None:
    """Return the mnemonic of a message; none, if it has inline elements other than protected texts.

    ``&&``, a reference such as ``&amp;``, one of several marks, a mark in a placeholder or an address, and an underscore
    in a message with other ones, such as names of variables, are none.
    """
    text, elements = paragraph.text, paragraph.elements
    if any(e.inner or not e.is_kept or e.start == e.end for e in elements):
        return None
    kinds = "&" if text.count("_") > 1 else "&_"
    found = [mark for mark in _IN_BRACKETS.finditer(text) if mark[1] in kinds]
    before_letters = [mark for mark in _BEFORE_LETTER.finditer(text) if mark[1] in kinds]
    kept = _find_kept(text) if before_letters else set()
    kept |= {at for each in elements for at in range(each.start, each.end)}
    is_label = len(text) <= _LONGEST_LABEL
    for mark in before_letters:
        at = mark.start()
        begins_word = not text[at - 1 : at].strip()
        if at not in kept and (begins_word or (is_label and _is_inside_label(text, at))):
            found.append(mark)
    if len(found) != 1:
        return None
    (kind, letter), (start, end) = found[0].groups(), found[0].span()
    shifts = ((each, (end - start) * (each.start >= start)) for each in elements)
    moved = [replace(e, start=e.start - shift, end=e.end - shift) for e, shift in shifts]
    without = Paragraph(text[:start] + text[end:], moved)
    return Mnemonic(kind, letter, [without], start, end - start)


def _find_kept(text: str) -> set[int]:
    """Return the places of placeholders, addresses and the like; a single word may have a mnemonic (Cu_t)."""
    parts = [
        part
        for part in find_protected_text(text)
        if not _WORD.fullmatch(text[part.start : part.end].rstrip(_ENDS))
    ]
    return {at for part in parts for at in range(part.start, part.end)}


def _is_inside_label(text: str, at: int) -> bool:
    """Return whether a mark inside a word of a label is a mnemonic's: E&xit, Cu_t, but not R&D, Drag&drop, file_name."""
    before, letter = text[at - 1], text[at + 1]
    if not (before.isalpha() and letter.islower()):
        return False
    first, rest = _LETTERS_BEFORE.search(text[:at]), _LETTERS.match(text, at + 1)
    if not first or not rest or (len(first[0]) > _FEW_LETTERS and len(rest[0]) >= _FEW_LETTERS):
        return False
    # A word of a menu has a capital, and a name of a variable has none.
    return text[at] == "&" or (first[0] + rest[0]).istitle()
