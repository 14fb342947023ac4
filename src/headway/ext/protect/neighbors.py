"""What stands beside a place in a text."""

import re
from collections.abc import Sequence

from headway.text import WORD

_TOKEN = re.compile(rf"{WORD}|[^\w\s]")
_SENTENCE_START = re.compile(r"(?:^|[.!?\u3002\uff01\uff1f])\W*$")


def find_neighbors(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the words or punctuation marks before and after a part of a text, without capitals.

    An empty one means that the part is first or last. What stands before it has a "^" if it is the first of the
    text: in English, "has" mostly asks for a name there, and elsewhere for a verb.
    """
    before, after = _TOKEN.findall(text[:start]), _TOKEN.search(text, end)
    return _mark_first(before, len(before) - 1), (after[0] if after else "").casefold()


def list_neighbors(text: str) -> list[tuple[str, str]]:
    """Return what `find_neighbors` finds for each place between words or punctuation marks, and for both ends."""
    tokens = _TOKEN.findall(text)
    after = [*map(str.casefold, tokens), ""]
    return [(_mark_first(tokens, number - 1), word) for number, word in enumerate(after)]


def _mark_first(tokens: Sequence[str], number: int) -> str:
    """Return a token without capitals, marked if it is the first; "" before the first."""
    return "" if number < 0 else "^" * (number == 0) + tokens[number].casefold()


def starts_sentence(before: str) -> bool:
    """Return whether what follows a text begins a sentence."""
    return _SENTENCE_START.search(before) is not None
