"""Where words begin and end, in scripts that put spaces between words, and what stands beside them."""

import re
import unicodedata

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SENTENCE_START = re.compile(r"(?:^|[.!?\u3002\uff01\uff1f])\W*$")


def is_word_character(text: str) -> bool:
    """Return whether a character belongs to a word, so that a neighbor of its kind continues the word.

    Characters of scripts without spaces between words, such as Chinese, Japanese and Thai, do not; nor
    do Korean ones, because particles are attached to Korean words.

    Args:
        text: A character, or "".
    """
    if not text or not (text.isalnum() or text == "_" or unicodedata.category(text)[0] == "M"):
        return False
    is_thai_lao_burmese_or_khmer = (
        "\u0e00" <= text < "\u0f00" or "\u1000" <= text < "\u10a0" or "\u1780" <= text < "\u1800"
    )
    return not is_thai_lao_burmese_or_khmer and unicodedata.east_asian_width(text) not in "WF"


def is_inside_word(text: str, at: int) -> bool:
    """Return whether a word goes on from the character before a place to the one after it."""
    return 0 < at < len(text) and is_word_character(text[at - 1]) and is_word_character(text[at])


def is_byte(subword: str) -> bool:
    """Return whether an entry of a vocabulary is a byte of a character that has no subword."""
    return subword.startswith("<0x") and len(subword) == 6


def find_neighbors(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the words or punctuation marks before and after a part of a text, without capitals.

    An empty one means that the part is first or last.
    """
    before, after = _TOKEN.findall(text[:start]), _TOKEN.search(text, end)
    return (before[-1] if before else "").casefold(), (after[0] if after else "").casefold()


def starts_sentence(before: str) -> bool:
    """Return whether what follows a text begins a sentence."""
    return _SENTENCE_START.search(before) is not None
