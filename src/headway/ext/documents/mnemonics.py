"""Mnemonics of menus and buttons: taken out of a message before its translation, and put back into it.

A mnemonic is the letter that Alt and a key choose: ``&Open`` in Qt and wxWidgets, ``_Open`` in GTK.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from headway.ext.documents.paragraph import Paragraph
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
        text: The message without it.
    """

    mark: str
    letter: str
    text: str

    @property
    def sentences(self) -> list[str]:
        """What is translated."""
        return [self.text]

    def write(self, translations: Sequence[str]) -> str:
        """Return the translation of the text with the mark.

        The mark stands before the same letter, at best where a word begins, or else before the first letter.
        """
        [translation] = translations
        kept = {
            at for part in find_protected_text(translation) for at in range(part.start, part.end)
        }
        letters = [at for at, c in enumerate(translation) if c.isalpha() and at not in kept]

        def rank(at: int) -> tuple[bool, bool, int]:
            is_other = translation[at].casefold() != self.letter.casefold()
            return is_other, translation[at - 1 : at].isalnum(), at

        if not letters:
            return translation
        is_other, _, at = rank(min(letters, key=rank))
        if is_other and unicodedata.east_asian_width(translation[at]) == "W":
            name = translation.rstrip(_ENDS)
            return f"{name}({self.mark}{self.letter.upper()}){translation[len(name) :]}"
        return f"{translation[:at]}{self.mark}{translation[at:]}"


def read_mnemonic(paragraph: Paragraph[Any]) -> Mnemonic | None:
    """Return the mnemonic of a message without inline elements."""
    return None if paragraph.elements else find_mnemonic(paragraph.text)


def find_mnemonic(text: str) -> Mnemonic | None:
    """Return the mnemonic of a message.

    ``&&``, a reference such as ``&amp;``, one of several marks, a mark in a placeholder or an address, and an underscore
    in a message with other ones, such as names of variables, are none.
    """
    kinds = "&" if text.count("_") > 1 else "&_"
    found = [mark for mark in _IN_BRACKETS.finditer(text) if mark[1] in kinds]
    before_letters = [mark for mark in _BEFORE_LETTER.finditer(text) if mark[1] in kinds]
    kept = _find_kept(text) if before_letters else set()
    is_label = len(text) <= _LONGEST_LABEL
    for mark in before_letters:
        at = mark.start()
        begins_word = not text[at - 1 : at].strip()
        if at not in kept and (begins_word or (is_label and _is_inside_label(text, at))):
            found.append(mark)
    if len(found) != 1:
        return None
    kind, letter = found[0].groups()
    return Mnemonic(kind, letter, text[: found[0].start()] + text[found[0].end() :])


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
