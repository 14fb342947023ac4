"""Mnemonics of menus and buttons: taken out of a message before its translation, and put back into it.

A mnemonic is the letter that Alt and a key choose: ``&Open`` in Qt and wxWidgets, ``_Open`` in GTK.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from headway.ext.documents.icu_message import IcuMessage, read_message
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.protect import find_protected_text

# Before a word, behind its first letters (E&xit, Cu_t) or before its last ones (Forma&t), but not in R&D and Drag&drop.
_MARK = re.compile(
    r"(?!&\w+[;=])(?:(?<!\S)[&_](?=[^\W\d_])|(?<=[a-z])&(?=[a-z]{1,2}\b)"
    r"|(?:(?<=\b[A-Z])|(?<=\b[A-Z][a-z])|(?<=\b[A-Z][a-z][a-z]))[&_](?=[a-z]+\b))"
)
_WORD = re.compile(r"\w+[.:…]*")
_ENDS = " .…:：。"  # stand behind a mnemonic in brackets


class Mnemonic(NamedTuple):
    """The mnemonic of a message.

    Attributes:
        mark: ``&`` or ``_``.
        letter: The letter behind it.
        paragraphs: The message without it.
    """

    mark: str
    letter: str
    paragraphs: Sequence[Paragraph]

    def write(self, translations: Sequence[Translated]) -> Translated:
        """Return the translation of the text with the mark.

        The mark stands before the same letter, at best where a word begins, or else before the first letter. Chinese,
        Japanese and Korean words lack the letters of the keys: there it stands behind them in brackets, 打开(&O).
        """
        text = translations[0].text
        kept = _find_kept(text)
        letters = [at for at, c in enumerate(text) if c.isalpha() and at not in kept]
        if not letters:
            return Translated(text)

        def rank(at: int) -> tuple[bool, bool, int]:
            is_other = text[at].casefold() != self.letter.casefold()
            return is_other, text[at - 1 : at].isalnum(), at

        is_other, _, at = rank(min(letters, key=rank))
        if is_other and unicodedata.east_asian_width(text[at]) == "W":
            at, mark = len(text.rstrip(_ENDS)), f"({self.mark}{self.letter.upper()})"
        else:
            mark = self.mark
        return Translated(text[:at] + mark + text[at:])


def read_label(paragraph: Paragraph, language: str = "") -> "IcuMessage | Mnemonic | None":
    """Return the form in which a message of a catalog is translated; None: as it is.

    Args:
        paragraph: The message.
        language: That of the translation; "" if it is not known.
    """
    return read_message(paragraph, language) or read_mnemonic(paragraph)


def read_mnemonic(paragraph: Paragraph) -> Mnemonic | None:
    """Return the mnemonic of a message without inline elements; None: it has none, or marks that may mean something else."""
    text = paragraph.text
    if paragraph.elements or not ("&" in text or "_" in text):
        return None
    found = [*_MARK.finditer(text)]
    if len(found) != 1 or (found[0][0] == "_" and text.count("_") > 1):
        return None
    at, kept = found[0].start(), _find_kept(text)
    if at in kept:
        return None
    return Mnemonic(found[0][0], text[at + 1], [Paragraph(text[:at] + text[at + 1 :])])


def _find_kept(text: str) -> set[int]:
    """Return the places of placeholders, addresses and the like; a single word may have a mnemonic (Cu_t)."""
    spans = (part[:2] for part in find_protected_text(text))
    return {at for span in spans if not _WORD.fullmatch(text, *span) for at in range(*span)}
