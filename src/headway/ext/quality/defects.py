"""What looks broken in a translation, by its text alone: loops, numbers that differ, text left untranslated."""

import re
from collections.abc import Sequence
from typing import Literal

from headway.ext.protect import NUMBER, compare_numbers, has_words, is_all_protected
from headway.text import LETTERS, MARK, UNSPACED, WORD, is_unspaced, turn_marks_to_letters

Defect = Literal["loop", "numbers", "untranslated"]

_WORD = re.compile(LETTERS)
# The units that a loop repeats: a number such as 1,000,000 is one, and without spaces between words a row of one mark, too.
_UNIT = re.compile(f"{NUMBER}|{WORD}")
_UNSPACED_UNIT = re.compile(
    rf"{NUMBER}|[〇零一二三四五六七八九]+|[^\W\d_{UNSPACED}]+|(?P<mark>[^\w\s{MARK}])(?P=mark)*|\S"
)
_STUTTER = re.compile(r"([^\W\d_]{1,4}?)\1{4,}")  # a loop inside a word
LONGEST_LOOP = 12  # words, or characters of a script without spaces
COPIES = 3  # of the same words, one after the other
LEAST_WORDS = 3  # of a text of which a translation must differ
MOST_COPIED = 0.9  # of the words


def find_defects(source: str, translation: str, languages: tuple[str, str]) -> tuple[Defect, ...]:
    """Return what looks broken in a translation.

    Args:
        source: Raw text.
        translation: Raw text.
        languages: Codes of source and target.

    Returns:
        loop: words come three times in a row, and not in the source. numbers: a number from 13 on is in one
        of the texts only. untranslated: the translation is empty or has nothing but protected text such as placeholders, or nearly
        all words stand in it as they stand in the source.
    """
    source_language, language = languages
    found: list[Defect] = []
    if has_loop(translation, language) and not has_loop(source, source_language):
        found.append("loop")
    if compare_numbers(source, translation).different:
        found.append("numbers")
    is_bare = is_all_protected(translation) and all(kept in source for kept in translation.split())
    if (has_words(source) and (is_bare or not translation.strip())) or (
        source_language != language and share_copied(source, translation) >= MOST_COPIED
    ):
        found.append("untranslated")
    return tuple(found)


def share_copied(source: str, translation: str) -> float:
    """Return which share of the words of a text stands in its translation; 0 if it has few words.

    Words with a capital do not count, because they may be names.
    """
    words = [word for word in _WORD.findall(source) if not word[0].isupper()]
    if len(words) < LEAST_WORDS:
        return 0.0
    return _share_words(words, translation)


def keeps_words(translation: str, other: str) -> bool:
    """Return whether another translation has nearly all words of a translation; numbers and capitals do not count."""
    words = _WORD.findall(translation.casefold())
    return not words or _share_words(words, other.casefold()) >= MOST_COPIED


def _share_words(words: Sequence[str], text: str) -> float:
    copied = set(_WORD.findall(text))
    return sum(word in copied for word in words) / len(words)


def has_loop(text: str, language: str) -> bool:
    """Return whether up to 12 words come three times in a row, or a few letters five times."""
    units = _UNSPACED_UNIT if is_unspaced(language) else _UNIT
    words = [found[0] for found in units.finditer(text)]
    periods = range(1, LONGEST_LOOP + 1)
    return any(count_copies(words, period) >= COPIES for period in periods) or bool(
        _STUTTER.search(turn_marks_to_letters(text))
    )


def count_copies(words: Sequence[str], period: int) -> int:
    """Return how many times ``period`` words are repeated one after the other, at most."""
    longest = run = 0
    for before, word in zip(words, words[period:], strict=False):
        run = run + 1 if before == word else 0
        longest = max(longest, run)
    return 1 + longest // period
