"""What looks broken in a translation, by its text alone."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Literal

from headway.ext.protect import NUMBER, count_different_numbers, find_protected_text, has_words
from headway.text import LETTERS, MARK, UNSPACED, WORD, is_unspaced, turn_marks_to_letters

Defect = Literal["loop", "numbers", "untranslated", "length", "placeholders", "names"]

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
LONG_TEXT = 12  # words, or characters of a script without spaces; shorter texts may have any length in another language
LARGEST_RATIO = 3.0  # of the lengths of longer ones
_SEPARATORS = " \t:;|.!?…-–—/"  # at the ends of what stands before or after a sentence
PLACEHOLDER = "\0"
# A conversion of printf takes the next argument, so that several must keep their order.
_NEXT_ARGUMENT = re.compile(r"%[-+#0-9.]*[a-zA-Z@]+")
# A placeholder in a word or a number, a space before a comma or a full stop, and empty brackets and quotes: something stood elsewhere.
_HOLE = re.compile(
    rf"\w{PLACEHOLDER}|{PLACEHOLDER}[.,]?\w|\s[,.](?=\s|$)|\(\s*\)|\[\s*\]|\"\"|„“|“”|«\s*»"
)
_CAPITALIZING = ("de", "lb")  # languages in which each noun has a capital
LEAST_LETTERS = 3  # of a name
FEW_LETTERS = 4  # of articles and the like
BEGINNING = 3  # letters that an inflected word keeps
SIMILAR = 0.8  # ratio of `difflib` from which a word may be another form of a name


def find_defects(source: str, translation: str, languages: tuple[str, str]) -> tuple[Defect, ...]:
    """Return what looks broken in a translation; lost names are found by `find_lost_names`.

    Args:
        source: Raw text.
        translation: Raw text.
        languages: Codes of source and target.

    Returns:
        loop: words come three times in a row, and not in the source. numbers: a number from 13 on is in one
        of the texts only. untranslated: the translation has no words, or nearly all words stand in it as they stand in the
        source. length: one text is more than three times as long as the other. placeholders: text that must stay is
        lost, doubled or changed, or stands where it breaks the sentence.
    """
    source_language, language = languages
    protected = _find_protected(translation) | _find_protected(source)
    words, written = (_hide(text, protected) for text in (source, translation))
    units, own_units = _find_units(translation, language), _find_units(source, source_language)
    lengths = sorted((len(units), len(own_units)))
    is_empty = has_words(source) and not any(map(str.isalnum, written))
    is_copied = source_language != language and share_copied(words, written) >= MOST_COPIED
    is_out_of_place = bool(protected) and not is_unspaced(language) and bool(_HOLE.search(written))
    ordered = [
        [each for each in _NEXT_ARGUMENT.findall(text) if each in protected]
        for text in (source, translation)
    ]
    is_broken: dict[Defect, bool] = {
        "loop": _has_loop(translation, units) and not _has_loop(source, own_units),
        "numbers": count_different_numbers(source, translation) > 0,
        "untranslated": is_empty or is_copied,
        "length": lengths[1] >= LONG_TEXT and lengths[1] > LARGEST_RATIO * lengths[0],
        "placeholders": any(source.count(part) != translation.count(part) for part in protected)
        or ordered[0] != ordered[1]
        or (is_out_of_place and not _HOLE.search(words)),
    }
    return tuple(defect for defect, is_found in is_broken.items() if is_found)


def _find_protected(text: str) -> dict[str, str]:
    """Return the placeholders, tags and the like of a text, and what is written instead: for a placeholder a NUL."""
    parts = {
        text[start:end].strip(_SEPARATORS): PLACEHOLDER if kind == "name" else " "
        for start, end, kind in find_protected_text(text)
        if kind in ("name", "tag")
    }
    return {part: instead for part, instead in parts.items() if part}


def _hide(text: str, protected: Mapping[str, str]) -> str:
    for part in sorted(protected, key=len, reverse=True):
        text = text.replace(part, protected[part])
    return text


def find_lost_names(source: str, translation: str, languages: tuple[str, str]) -> list[str]:
    """Return the words with a capital of which a translation has no similar one with a capital.

    Many of them are no names. Words in capitals are some of them if the text has other words. There are none in languages in which each noun has a capital, and in translations into
    another script.
    """
    if languages[0] in _CAPITALIZING:
        return []
    written = " ".join(word for word in _WORD.findall(translation) if word[0].isupper())
    script, has_small = _find_script(translation), any(map(str.islower, source))
    return [
        word
        for word in _WORD.findall(source)
        if len(word) >= LEAST_LETTERS
        and (word.istitle() or (word.isupper() and has_small))
        and script in ("", _find_script(word))
        and not has_similar_word(word, written)
    ]


def has_similar_word(words: str, text: str) -> bool:
    """Return whether a text has a word that is similar to one of some words, begins as it does, or contains it.

    Of several words those of one or two letters do not count, nor does a short one at the beginning, which is an article or the like.
    """
    written = [_fold(word) for word in _WORD.findall(text)]
    first, *others = [_fold(word) for word in _WORD.findall(words)] or [""]
    if others:
        others = [word for word in others if len(word) >= LEAST_LETTERS]
        first = first if len(first) > FEW_LETTERS else ""
    return any(
        any(word in other or other.startswith(word[:BEGINNING]) for other in written)
        or get_close_matches(word, written, 1, SIMILAR)
        for word in filter(None, [first, *others])
    )


def _find_script(text: str) -> str:
    """Return the script of most letters of a text, as their names in Unicode begin: "LATIN"; "": there are no letters."""
    scripts = Counter(unicodedata.name(c, "").partition(" ")[0] for c in text if c.isalpha())
    return max(scripts, key=scripts.__getitem__, default="")


def _fold(word: str) -> str:
    """Return a word without capitals and accents."""
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


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


def _find_units(text: str, language: str) -> list[str]:
    units = _UNSPACED_UNIT if is_unspaced(language) else _UNIT
    return [found[0] for found in units.finditer(text)]


def _has_loop(text: str, units: Sequence[str]) -> bool:
    """Return whether up to 12 words come three times in a row, or a few letters five times."""
    for period in range(1, LONGEST_LOOP + 1):
        run = 0
        for before, unit in zip(units, units[period:], strict=False):
            run = run + 1 if before == unit else 0
            if run == (COPIES - 1) * period:
                return True
    return bool(_STUTTER.search(turn_marks_to_letters(text)))
