"""Documents with messages of programs, whose mnemonics are put into the translation.

A mnemonic is the letter that Alt and a key choose: ``&Open`` in Qt and wxWidgets, ``_Open`` in GTK.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from headway.documents.paragraph import Document, Paragraph, Translated
from headway.text.kept_text import find_kept_text

# Chinese, Japanese and Korean words lack the letters of the keys: there it stands behind them in brackets, 打开(&O).
_IN_BRACKETS = re.compile(r"(?<![%$\s])\s*+\(([&_])([A-Za-z])\)")
_BEFORE_LETTER = re.compile(r"(?!&\w+[;=])([&_])(?=([^\W\d_]))")
_WORD = re.compile(r"\w+")
_LONGEST_WORD = 40
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

    def put_back(self, translation: str) -> str:
        """Return the translation of the text with the mark.

        The mark stands before the same letter, at best where a word begins, or else before the first letter.
        """
        kept = {at for part in find_kept_text(translation) for at in range(part.start, part.end)}
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


def find_mnemonic(text: str) -> Mnemonic | None:
    """Return the mnemonic of a message.

    ``&&``, a reference such as ``&amp;``, one of several marks, and an underscore in a message with other ones, such as
    names of variables, are none.
    """
    kinds = "&" if text.count("_") > 1 else "&_"
    found = [mark for mark in _IN_BRACKETS.finditer(text) if mark[1] in kinds]
    for mark in _BEFORE_LETTER.finditer(text):
        if mark[1] in kinds and _is_mnemonic(text, mark.start()):
            found.append(mark)
    if len(found) != 1:
        return None
    kind, letter = found[0].groups()
    return Mnemonic(kind, letter, text[: found[0].start()] + text[found[0].end() :])


def _is_mnemonic(text: str, at: int) -> bool:
    """Return whether the mark before a letter is a mnemonic's: at the beginning of a word, or inside (E&xit, Cu_t)."""
    before, letter = text[at - 1 : at], text[at + 1]
    if not before.strip():
        return True
    if not (before.isalpha() and letter.islower()):  # R&D
        return False
    if text[at] == "&":
        return True
    # A word of a menu has a capital, and a name of a variable has none.
    around = next(
        word for word in _WORD.finditer(text, max(0, at - _LONGEST_WORD)) if at < word.end()
    )
    return around[0].replace("_", "").istitle()


class MnemonicDocument:
    """A document in which some paragraphs have a mnemonic.

    Args:
        document: The same document, with the marks in its paragraphs.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._mnemonics = [
            None if paragraph.elements else find_mnemonic(paragraph.text)
            for paragraph in document.paragraphs
        ]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The paragraphs of the document, without marks."""
        pairs = zip(self._document.paragraphs, self._mnemonics, strict=True)
        return [Paragraph(found.text) if found else paragraph for paragraph, found in pairs]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the document with its paragraphs replaced."""
        whole: list[Translated] = []
        for paragraph, found, translated in zip(
            self._document.paragraphs, self._mnemonics, translations, strict=True
        ):
            if found is None:
                whole.append(translated)
            elif translated.text == found.text:
                whole.append(Translated(paragraph.text))
            else:
                whole.append(Translated(found.put_back(translated.text)))
        return self._document.write(whole)
