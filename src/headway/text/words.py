"""Where words begin and end, and what stands beside them."""

import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby

Span = tuple[int, int]

# Combining marks, such as accents and the signs of vowels: they belong to the letter before them, and yet to no `\w`.
_MARKS = "".join(
    character
    for character in map(chr, (*range(0x1F000), *range(0xE0100, 0xE01F0)))
    if unicodedata.category(character)[0] == "M"
)


def _write_ranges(characters: str) -> str:
    """Return sorted characters as the ranges of a regular expression, which compile faster than each by itself."""
    runs = groupby(enumerate(map(ord, characters)), key=lambda each: each[1] - each[0])
    codes = ([code for _, code in run] for _, run in runs)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in codes)


# Parts of regular expressions. Each compiles for half a millisecond, which is too long for each term of a glossary.
MARK = _write_ranges(_MARKS)  # within brackets
WORD = rf"\w++(?:[{MARK}]++\w*+)*+"
LETTERS = rf"[^\W\d_]++(?:[{MARK}]++[^\W\d_]*+)*+"
_ANY_MARK = re.compile(rf"[\u0300-\U0010ffff](?<=[{MARK}])")  # Latin text is passed over fast
# Letters of Tangut, a script that hardly any text has.
_LETTERS_FOR_MARKS = dict(zip(map(ord, _MARKS), range(0x17000, 0x187F8), strict=False))

# Chinese characters and hiragana.
_CHINESE_HIRAGANA = (
    "\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
# Scripts without spaces between words: also Thai, Lao, Burmese and Khmer.
_SINGLE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff" + _CHINESE_HIRAGANA
# Mostly loan words, each of them in one piece.
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
UNSPACED = _SINGLE + _KATAKANA  # within brackets of a regular expression
# A character of Chinese, Japanese or Korean is a syllable or a word; one of Thai is a letter, as in English.
_SYLLABLES = re.compile(f"[{_CHINESE_HIRAGANA}{_KATAKANA}\uac00-\ud7a3]+")
# A Chinese translation of English has a third to a quarter of its characters.
_LETTERS_OF_A_SYLLABLE = 3
_OPENING = "「『（［｛〈《【〔“‘(\\[{<"
# Characters that a reader does not see: controls, soft hyphens, marks of direction, variation selectors and the like.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufff8\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
UNSEEN = _INVISIBLE + "\u200c\u200d"  # within brackets; alone, they are no word
_SPACE = r"\s\u200b\u2800"  # a space without width, and a blank of Braille, end a word, too
_WORD = re.compile(
    # Marks behind a character, combining ones too, belong to it, and opening and invisible ones to what follows.
    rf"[{_OPENING}{UNSEEN}]{{0,8}}"
    rf"(?:[{_KATAKANA}]+(?:[{UNSEEN}]++[{_KATAKANA}]++)*+|[{_SINGLE}])[^\w{_SPACE}{_OPENING}]*"
    rf"|(?!(?<=[{UNSEEN}])[{UNSEEN}])(?=[{UNSEEN}]*+[^{_SPACE}{UNSEEN}])"
    rf"(?:(?![{_OPENING}{UNSEEN}]{{1,8}}[{UNSPACED}])[^{_SPACE}{UNSPACED}])+"
)
_SINGLE_CHARACTER = re.compile(f"[{UNSPACED}]")
_OTHER_SPACE = re.compile(rf"(?<=[{_SINGLE}])\u200b(?=[{_SINGLE}])|([{_SPACE}])")
_OTHER_HYPHEN = re.compile("[\u2010\u2011]")
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
# Joiners mean something in Arabic, Indian and other scripts, and between emoji.
_LONE_JOINER = re.compile("(?<![\u0590-\u1fff\u2190-\U0010ffff])[\u200c\u200d]+")
_SEVERAL_SPACES = re.compile(r"(?<=\S) {2,}(?=\S)")


def find_words(text: str, start: int = 0) -> list[Span]:
    """Return where each word of a text starts and ends, counted from ``start``.

    White space separates words. In scripts without spaces between words each character is a word, with the
    marks behind it; so is a row of katakana. Marks that touch a word belong to it.
    """
    return [(start + found.start(), start + found.end()) for found in _WORD.finditer(text)]


def count_letters(text: str) -> int:
    """Return the length of a text in characters, of which a Chinese, Japanese or Korean one counts as three."""
    if text.isascii():
        return len(text)
    syllables = sum(map(len, _SYLLABLES.findall(text)))
    return len(text) + (_LETTERS_OF_A_SYLLABLE - 1) * syllables


def is_word_alone(character: str) -> bool:
    """Return whether a character is of a script without spaces between words."""
    return _SINGLE_CHARACTER.match(character) is not None


def word_at(words: Sequence[Span], place: int) -> int:
    """Return the number of the word that contains a character, or of the word before it; -1 if there is none."""
    return bisect_right(words, (place, sys.maxsize)) - 1


def is_word_character(text: str) -> bool:
    """Return whether a character belongs to a word, so that a neighbor of its kind continues the word.

    Characters of scripts without spaces between words, such as Chinese, Japanese and Thai, do not; nor
    do Korean ones, because particles are attached to Korean words.

    Args:
        text: A character, or "".
    """
    if not text or not (text.isalnum() or text == "_" or unicodedata.category(text)[0] == "M"):
        return False
    return not is_word_alone(text) and unicodedata.east_asian_width(text) not in "WF"


def is_inside_word(text: str, at: int) -> bool:
    """Return whether a word goes on from the character before a place to the one after it."""
    return 0 < at < len(text) and is_word_character(text[at - 1]) and is_word_character(text[at])


def turn_marks_to_letters(text: str) -> str:
    """Return a text with a letter for each combining mark, so that `\\w` matches it; no two marks have the same one.

    A pattern that reads such texts needs no `MARK`, so that it compiles in microseconds.
    """
    return text.translate(_LETTERS_FOR_MARKS) if _ANY_MARK.search(text) else text


def simplify_breaks(text: str) -> str:
    """Return a text with the characters that models know in the place of those that look like them, or like nothing.

    Any white space becomes a space, a non-breaking hyphen a hyphen, a letter and its accent one character (NFC), and what
    nobody sees nothing. Several spaces become one: there are two where an image stood. The text has as many words as before.
    """
    if not text.isascii() or not text.isprintable():
        text = _LONE_JOINER.sub("", _ANY_INVISIBLE.sub("", _OTHER_HYPHEN.sub("-", text)))
        text = unicodedata.normalize("NFC", text)
    if not text.isascii() or not text.isprintable():
        text = _OTHER_SPACE.sub(lambda found: " " if found[1] else "", text)
    return _SEVERAL_SPACES.sub(" ", text)


def is_byte(subword: str) -> bool:
    """Return whether an entry of a vocabulary is a byte of a character that has no subword."""
    return subword.startswith("<0x") and len(subword) == 6
