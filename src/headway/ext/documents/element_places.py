"""Places of elements in a text: before a word, behind one, at the end of a sentence; and marks beside words.

Elements without text are images, line breaks and footnotes.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile

from headway.text import Span, is_word_alone

_MOST_MARKS = 8  # behind a footnote
_MOST_SPACES = 16  # between words
_SENTENCE_END = re.compile(r"(?:[.!?\u2026]|([。！？]))[\"'”’»)\]」』]{0,3}$")
_CLOSING = ".,;:!?)\u2026"  # no space stands before them, nor behind the end of a text
_LONGEST_END = 4  # characters of such an end


def is_mark(character: str) -> bool:
    """Return whether a character is punctuation."""
    return unicodedata.category(character).startswith("P")


def is_trailing(text: str, place: int) -> bool:
    """Return whether only a space parts an element at the end of a text from the last word."""
    return place == len(text) and text[-1:].isspace()


def is_behind_word(text: str, place: int) -> bool:
    """Return whether a place is behind the letters of a word, before its punctuation."""
    if not place or text[place - 1].isspace():
        return False
    if is_word_alone(text[place - 1]):
        return True
    rest = text[place : place + _MOST_MARKS]
    marks = next((n for n, character in enumerate(rest) if not is_mark(character)), len(rest))
    return marks == len(rest) or rest[marks].isspace()


def ends_sentence(text: str, place: int) -> bool:
    """Return whether a place is directly behind the punctuation at the end of a sentence."""
    end = _SENTENCE_END.search(text[max(0, place - _LONGEST_END) : place])
    rest = text[place : place + _MOST_SPACES]
    is_apart = not rest or rest[0].isspace() or (end is not None and end[1] is not None)
    return end is not None and is_apart and not rest.lstrip()[:1].islower()


def find_point(text: str, place: int, target: str, words: Sequence[Span], following: int) -> int:
    """Return the character of a translation before which an element without text stands.

    Args:
        text: The text.
        place: Where the element is in it.
        target: The translation.
        words: The words of the translation.
        following: The number of the word that follows the element there.
    """
    next_word = words[following][0] if following < len(words) else len(target)
    if (at := _find_among_spaces(text, place, target, next_word)) is not None:
        return at
    if place == 0 and text[:1].isspace():
        return 0
    if is_trailing(text, place):
        return len(target)
    if is_behind_word(text, place) and 0 < following <= len(words):
        at = words[following - 1][1]
        is_at_mark = is_mark(text[place : place + 1] or " ")
        if is_at_mark or not (is_mark(text[place - 1]) or is_word_alone(text[place - 1])):
            while at > 1 and is_mark(target[at - 1]):
                at -= 1
        return at
    at = words[following][0] if following < len(words) else len(target.rstrip())
    if at > 1 and target[at - 2 : at].isspace() and text[place : place + 1].isspace():
        at -= 1  # a space stays on each side
    return at


def _find_among_spaces(text: str, place: int, target: str, next_word: int) -> int | None:
    """Return the place among spaces before a word if the text has several elements among as many spaces."""
    if not 0 < place < len(text) or not (text[place - 1] + text[place]).isspace():
        return None
    before = text[max(0, place - _MOST_SPACES) : place]
    after = text[place : place + _MOST_SPACES]
    count = len(before) - len(before.rstrip()), len(after) - len(after.lstrip())
    start = next_word - sum(count)
    if start < 0 or sum(count) > _MOST_SPACES or target[start:next_word].strip():
        return None
    return start + count[0]


def find_missing_spaces(text: str, place: Span, target: str, at: int) -> tuple[str, str]:
    """Return the spaces around an element in the text that are missing at a point of the translation.

    Args:
        text: The text.
        place: The characters of the element in it.
        target: The translation.
        at: Where the element is put.
    """
    (start, end), previous, following = place, target[max(0, at - 1) : at], target[at : at + 1]
    own_previous, own_following = text[max(0, start - 1) : start], text[end : end + 1]
    has_text = start < end  # then it must not become part of a word
    # Nor must an image that a space parts from the word before it.
    is_apart = has_text or own_previous.isspace()
    needs_before = own_previous.isspace() or (
        has_text and previous.isalnum() and not own_previous.isalnum()
    )
    needs_after = own_following.isspace() or (
        is_apart and following.isalnum() and not own_following.isalnum()
    )
    before = " " if needs_before and previous and not previous.isspace() else ""
    is_closing = following.isspace() or following in _CLOSING
    after = " " if needs_after and not is_closing else ""
    return before, after


def strip_marks(text: str, span: Span) -> Span:
    """Return a range without the punctuation at its ends."""
    start, end = span
    while start < end and is_mark(text[start]):
        start += 1
    while start < end and is_mark(text[end - 1]):
        end -= 1
    return start, end


def count_marks(text: str) -> int:
    """Return with how many punctuation marks a text begins."""
    return sum(1 for _ in takewhile(is_mark, text))
