"""Where sentences end in languages whose abbreviations are known.

A full stop ends a sentence, an abbreviation, an initial or an ordinal number; the words beside it decide. What is known
of each language stands in ``sentence_ends.json``.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from headway.text.languages import base_code, shorten_code
from headway.text.words import UNSEEN

# Languages that write full stops as another one does.
_LIKE = {
    "no": "nb", "nn": "nb", "bs": "hr", "sr": "hr", "mk": "bg", "be": "ru", "ast": "es", "ms": "id",
}  # fmt: skip
# Languages with a full stop behind ordinal numbers; in some, a capital often follows.
_WITH_ORDINALS = {
    "de", "cs", "sk", "da", "nb", "fi", "hu", "hr", "sl", "tr", "pl", "lt", "lv", "et", "is",
}  # fmt: skip
_ORDINALS_BEFORE_CAPITALS = {"de", "hu", "tr"}
# Languages in which words such as "prst" have no vowel, and those in which such as "metr" end so.
_WITH_SYLLABIC_R = {"cs", "sk", "hr", "sl"}
_WITH_FINAL_R = {*_WITH_SYLLABIC_R, "pl", "ru", "uk", "bg"}
_FINAL_R = re.compile(r"[bpdtgkfvcm][lr]$")
_LAST_IN_GREEK = "αειουηωνςρξψ\u0301\u0308"
_OPENING = "\"'“”„‟«»‹›‘’‚([{¿¡"
_DASHES = "-–—―"
_MARKS = "\ue000-\uf8ff\U000f0000-\U0010ffff"  # of protected text, such as tags
_PASSED = f"{UNSEEN}\u200b"  # what nobody sees
_STOP = re.compile(
    r"(?<![.!?…。！？])(?P<mark>[.!?…;\u037e。！？][.!?…。！？]*+)"
    rf"(?P<closing>[\"'”“’»«›‹)\]}}」』{_MARKS}{_PASSED}]*+(?:[ \u00a0\u202f]»(?=\s))?)(?P<space>\s*+)(?=\S)"
)
_NEXT = re.compile(
    rf"([{re.escape(_OPENING + _DASHES)}\s]*+(?:(?<=['’])[stkn] )?)((?:[^\W_]|['’](?=[^\W_]))*+)"
)
_INITIALS = re.compile(r"(?:[^\W\d_][^\W\d_]?[.-]+)*[^\W\d_][^\W\d_]?")
_SHORT_PARTS = re.compile(r"(?!www)(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,4}")
_ROMAN = re.compile(r"[IVXLC]++")
_VOWELS = frozenset("aeiouyæøœıаеиоуыэюяєіъαεηιουω")
_WORD = re.compile(rf"[^\W_]|[{_MARKS}]")
_AT_WORD = re.compile(rf"(?<![{_MARKS}])[{_MARKS}]++(?=\w)|(?<=\w)[{_MARKS}]+|[{_PASSED}]+")
_BARE = re.compile(f"[{_MARKS}{_PASSED}]*")
_BESIDE = 80  # characters before and after a full stop that decide


class Facts(NamedTuple):
    """What is known of the full stops of a language; words are without theirs.

    Attributes:
        language: Its code.
        titles: Words before names.
        inner: Abbreviations that end a sentence only before a starter; -str stands for all words that end so.
        references: Words before numbers.
        final: Abbreviations that may end any sentence.
        starters: Words that often begin a sentence.
        units: Words behind numbers, of all languages.
        lettered: How words begin, in all languages, that stand before a letter which names something: plan B, vitamin C.
    """

    language: str
    titles: frozenset[str]
    inner: frozenset[str]
    references: frozenset[str]
    final: frozenset[str]
    starters: frozenset[str]
    units: frozenset[str]
    lettered: frozenset[str]


@cache
def find_facts(language: str) -> Facts | None:
    """Return what is known of a language, by its code; None: nothing."""
    code = base_code(shorten_code(language))
    code = _LIKE.get(code, code)
    lists = _read_lists()
    if code not in lists:
        return None
    words = {name: frozenset(some.split()) for name, some in (lists[code] | lists[""]).items()}
    return Facts(code, **words)


def has_ordinals(language: str) -> bool:
    """Return whether a number with a full stop is a rank in a language, or none of its ends of sentences are known."""
    facts = find_facts(language)
    return facts is None or facts.language in _WITH_ORDINALS


@cache
def _read_lists() -> dict[str, dict[str, str]]:
    """Return the words of each language, and under "" those of all."""
    text = (files(__package__) / "sentence_ends.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


def find_starts(line: str, facts: Facts) -> Iterator[int]:
    """Yield where each sentence but the first begins.

    Args:
        line: Raw text.
        facts: Of its language.
    """
    is_small = _begins_small(line)  # as people write in chats
    last_word = next((at for at in range(len(line), 0, -1) if _WORD.match(line, at - 1)), 0)
    start = 0
    for stop in _STOP.finditer(line):
        mark, end = stop["mark"], stop.end()
        if end >= last_word or (not stop["space"] and mark[-1] not in "。！？"):
            continue
        following = _AT_WORD.sub("", line[end : end + _BESIDE])
        is_bare = _BARE.fullmatch(stop["closing"]) is not None
        if _begins_small(following) and not (is_small and is_bare):
            continue
        if mark == ".":
            before = _AT_WORD.sub("", line[max(start, stop.start() - _BESIDE) : stop.start()])
            is_end = _is_end(before.split(), following, facts, is_bare)
        else:
            is_end = mark not in (";", "\u037e") or facts.language == "el"
        if is_end:
            yield (start := end)


def _begins_small(text: str) -> bool:
    """Return whether a text, behind quotation marks and the like, begins with a word of small letters, unlike iPhone."""
    found = _NEXT.match(text)
    return found is not None and found[2][:1].islower() and found[2].islower()


def _is_end(before: list[str], after: str, facts: Facts, is_bare: bool) -> bool:
    """Return whether a full stop ends a sentence.

    Args:
        before: The last words of the sentence before it.
        after: What follows it and the space behind it.
        facts: Of the language.
        is_bare: Whether no bracket or quotation mark closes between the full stop and the space.
    """
    found = _NEXT.match(after)
    assert found is not None, "it matches any text"
    opening, following = found.groups()
    others, last = ["", "", *before][:-1], before[-1] if before else ""
    previous, word = others[-1], re.split("['’]", last.lstrip(_OPENING + _DASHES))[-1]  # l'art. 5
    ending = word.rpartition(".-")[2]
    word = ending if len(ending) > 1 and ending.isalpha() else word  # Dipl.-Ing.
    is_number, is_initial = following[:1].isdigit(), after[found.end() : found.end() + 1] == "."
    # A quotation mark, a bracket or a dash begins a sentence, too, but not a year in brackets.
    is_start = bool(opening.strip()) and not is_number
    is_start = is_start or (not is_initial and _is_starter(following, word, facts))
    is_letter = len(following) == 1 and following.isupper() and not is_start  # app. B
    is_numbered = (
        is_number or is_letter or after[:1] in "§№" or _ROMAN.fullmatch(following) is not None
    )
    is_part = len(previous) == 2 and previous.islower() and previous[1] == "."  # o. g.
    if previous.endswith(".") and f"{previous}{word}" in facts.final:  # i t. d.
        return True
    if _knows(facts.titles, word):
        return False
    if previous.endswith(".") and word.islower() and _knows(facts.titles, previous[:-1]):
        return False  # Dr. phil. Jens Berg
    if is_numbered and (_knows(facts.references, word) or after[0] == "§"):
        return False
    if word in facts.final:
        return not is_number
    if word in facts.units and previous[-1:].isdigit():
        return is_start or len(others) > 4  # "In 1812." is no sentence
    if word.isdigit() or (len(word) > 1 and _ROMAN.fullmatch(word)):
        is_reference = _knows(facts.references, previous.rstrip("."))
        is_ruler = not word.isdigit() and previous[:1].isupper()  # Karel IV.
        is_inside = bool(previous) and not (is_reference or is_ruler)
        return _ends_behind_number(word, is_number, is_start, facts, is_inside)
    if len(word) == 1 and word.isupper() and _is_name_of_something(others, facts):
        return True
    if is_start:
        return True
    return not (
        _knows(facts.inner, word)
        or not facts.inner.isdisjoint((f"-{word[-2:]}", f"-{word[-3:]}"))
        or _is_initial(word)
        or _is_no_word(word, facts.language)
        or (word.islower() and len(word) == 1 and (is_numbered or is_part or following.islower()))
        or (is_bare and _is_in_brackets(before))
    )


def _is_starter(word: str, before: str, facts: Facts) -> bool:
    """Return whether a word often begins a sentence; one in capitals does, but not behind small letters: excl. BTW."""
    is_acronym = len(word) > 2 and word.isupper() and not _ROMAN.fullmatch(word)
    if is_acronym:
        return not before.islower()
    first, *others = re.split("['’]", word)
    return first in facts.starters and not (first == "O" and others)  # O'Brien


def _knows(words: frozenset[str], word: str) -> bool:
    """Return whether a word is among some, or is one of them that begins a sentence."""
    return word in words or word[:1].lower() + word[1:] in words


def _ends_behind_number(
    word: str, is_number: bool, is_start: bool, facts: Facts, is_inside: bool
) -> bool:
    """Return whether a number with a full stop ends a sentence, and is no ordinal number.

    Args:
        word: The number, perhaps a Roman one.
        is_number: Whether a number follows.
        is_start: Whether what follows often begins a sentence.
        facts: Of the language.
        is_inside: Whether it is not the first word, and nothing before it asks for a number.
    """
    if facts.language not in _WITH_ORDINALS or (word.isdigit() and len(word) > 3):
        return True
    if is_number:
        return len(word) > 2
    if facts.language in _ORDINALS_BEFORE_CAPITALS:
        return is_start or (facts.language == "hu" and word.isdigit() and is_inside)
    return is_start or is_inside


def _is_name_of_something(before: list[str], facts: Facts) -> bool:
    """Return whether a capital letter behind some words names one of several things: plan B, classes A and B."""
    others = before[3:][-4:-1]  # a sentence may begin with a word of one letter
    return before[-1].casefold().startswith(tuple(facts.lettered)) or any(
        len(word) == 1 and word.isupper() for word in others
    )


def _is_in_brackets(before: list[str]) -> bool:
    """Return whether a bracket is open behind some words."""
    text = " ".join(before)
    return text.count("(") > text.count(")")


def _is_initial(word: str) -> bool:
    """Return whether a word is an initial, or several abbreviated words: J, J.R, J.-P, i.e."""
    if len(word) == 1:
        return word.isupper()
    return _SHORT_PARTS.fullmatch(word) is not None or (
        any(sign in word for sign in ".-") and _INITIALS.fullmatch(word) is not None
    )


def _is_no_word(word: str, language: str) -> bool:
    """Return whether a word is written like an abbreviation: Hrsg, constr."""
    if not (1 < len(word) < 8 and word.isalpha()) or word.isupper():
        return False
    letters = unicodedata.normalize("NFD", word.lower())
    if language == "el":
        return letters[-1] not in _LAST_IN_GREEK
    if language in _WITH_SYLLABIC_R and not {"r", "l"}.isdisjoint(letters):
        return False
    has_no_vowel = len(word) < 6 and _VOWELS.isdisjoint(letters)
    return has_no_vowel or (language not in _WITH_FINAL_R and _FINAL_R.search(letters) is not None)
