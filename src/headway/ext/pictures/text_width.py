"""The widths of texts, estimated without a font.

The fonts of a page's reader are not known, and matplotlib may be missing.
"""

import unicodedata
from collections.abc import Sequence

from headway.ext.pictures.style import LETTER_SIZE

LONGEST_LABEL = 150.0  # pixels
# An invisible letter: beside it, signs without a direction stand as in a text from right to left.
RIGHT_TO_LEFT = "\u200f"


def text_width(text: str, size: float = LETTER_SIZE) -> float:
    """Estimate the width of a text in pixels, rather too wide than too narrow."""
    return size * sum(_advance(character) for character in text)


def _advance(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # accents, marks of direction
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljtfrI.,;:'!|()[] -":
        return 0.42
    if character in "mwMW@%—…":
        return 0.98
    return 0.72 if character.isupper() else 0.63


def widest(texts: Sequence[str], size: float = LETTER_SIZE) -> float:
    """Return the width of the widest text."""
    return max(text_width(text, size) for text in texts)


def cut(text: str, width: float = LONGEST_LABEL) -> str:
    """Cut a text that is wider than ``width`` pixels; an ellipsis marks the cut."""
    if text_width(text) <= width:
        return text
    kept, room = "", width - text_width("…")
    for character in text:
        room -= LETTER_SIZE * _advance(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…" + (RIGHT_TO_LEFT if text.endswith(RIGHT_TO_LEFT) else "")
