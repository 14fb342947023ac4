"""Texts in capitals, such as headings: a model has read few of them, so that it reads small letters instead."""

import re

from headway.ext.protect.protected_text import find_protected_text, list_gaps
from headway.text import LETTERS

_LONG, _SINGLE = 4, 5  # letters of a word that is no abbreviation, beside other words and alone
_WORD = re.compile(LETTERS)
_SENTENCE_START = re.compile(r"(?:^|[.!?\u3002\uff01\uff1f])[^\w.!?\u3002\uff01\uff1f]*+$")
_SMALL, _LARGE = str.maketrans("Iİ", "ıi"), str.maketrans("iı", "İI")


def is_in_capitals(text: str) -> bool:
    """Return whether all letters of a text are capitals, and it has words besides abbreviations.

    Placeholders, addresses and the like do not count.
    """
    own = " ".join(list_gaps(text, find_protected_text(text)))
    if not own.isupper():
        return False
    lengths = [sum(map(str.isalpha, word)) for word in _WORD.findall(own)]
    return max(lengths) >= (_LONG if len(lengths) > 1 else _SINGLE)


def starts_sentence(before: str) -> bool:
    """Return whether what follows a text begins a sentence."""
    return _SENTENCE_START.search(before) is not None


def to_small_letters(text: str, language: str, words: str = "") -> str:
    """Return a text in capitals as sentences: only the first letter of each is a capital.

    Args:
        text: Any text.
        language: Its code.
        words: Characters that stand for words: no letter after one is the first of its sentence.
    """
    beginning = _match_beginnings(words)
    return beginning.sub(lambda found: _upper(found[0], language), lower(text, language))


def find_initials(text: str, words: str) -> set[str]:
    """Return the characters with which the sentences of a text begin: letters, or those that stand for words."""
    return {found[0][-1] for found in _match_beginnings(words).finditer(text)}


def _match_beginnings(words: str) -> re.Pattern[str]:
    letter = rf"[^\W\d_]|[{words}]" if words else r"[^\W\d_]"
    return re.compile(rf"(?:^|[.!?…]\s)[\W\d_]{{0,8}}?(?:{letter})")


def lower(text: str, language: str) -> str:
    """Return a text in small letters.

    Args:
        text: Any text.
        language: Its code.
    """
    return (text.translate(_SMALL) if _is_dotted(language) else text).lower()


def to_capitals(text: str, language: str) -> str:
    """Return a text in capitals, without a change of placeholders, addresses and the like.

    Args:
        text: Any text.
        language: Its code.
    """
    parts, at = [], 0
    for kept in find_protected_text(text):
        parts += [_upper(text[at : kept.start], language), text[kept.start : kept.end]]
        at = kept.end
    return "".join([*parts, _upper(text[at:], language)])


def _upper(text: str, language: str) -> str:
    return (text.translate(_LARGE) if _is_dotted(language) else text).upper()


def _is_dotted(language: str) -> bool:
    """Return whether a language has an i with a dot and one without, each small and large."""
    return re.split("[-_]", language)[0] in ("az", "tr")
