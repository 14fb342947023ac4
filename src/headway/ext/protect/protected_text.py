"""What a translation must keep as it is: placeholders, addresses, code, tags, symbols, and the values of numbers with units."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from headway.ext.protect.patterns import DEFINITIONS, PATTERNS
from headway.text import Span
from headway.translation import split_sentences

Kind = Literal["break", "name", "tag", "literal", "reference"]

Meaning = Literal[
    "number", "price", "amount", "name", "value", ""
]  # of protected text as it is written

KINDS: tuple[Kind, ...] = ("break", "tag", "name", "literal", "reference")
# Characters without a meaning in Unicode, with which documents mark protected texts.
PRIVATE_USE = (0xE000, 0xF900)
HIDDEN = chr(0xF0000)  # no part of a word; stands for what is kept, where sentences are found
_EXPRESSIONS = {
    kind: "|".join(each.expression for each in PATTERNS if each.kind == kind) for kind in KINDS
}
_ANY = re.compile("|".join(f"(?P<{kind}>{some})" for kind, some in _EXPRESSIONS.items()))
_LITERAL = re.compile(_EXPRESSIONS["literal"])
_BREAK = re.compile(_EXPRESSIONS["break"])
SYMBOLS = re.compile(DEFINITIONS["SYMBOLS"])
_MEASURE = re.compile(DEFINITIONS["MEASURE"])
_LONE_UNIT = re.compile(f"(?!bar|{DEFINITIONS['WORDLIKE']})(?:{DEFINITIONS['UNITS']})")
_ROMAN_NUMBER = re.compile(r"X{0,3}(?:IX|IV|V?I{0,3})")
_LETTERS = re.compile(r"[^\W\d_\u00b2\u00b3\u00b9]+(?:['\u2019][^\W\d_]+)*")

# A tag of HTML or XML: a slash, the name, and the slash of an element without an end tag.
ELEMENT = re.compile(r"<(/?)([\w:.-]++)[^<>]*?(/?)>")
_BETWEEN = re.compile(r"[^\w\s]*")
_BRACKETS = {"(": ")", "[": "]"}
# What stands between a sentence and protected text before or after it. A comma does not: "{name}, a teacher, sings".
_SEPARATOR = r"(?:[:;|.!?\u2026]|\s(?P<dash>[-\u2013\u2014/]))\s+"
_OPENING, _CLOSING = re.compile(_SEPARATOR), re.compile(rf"(?:{_SEPARATOR}|[.!?\u2026])$")
_WORD = re.compile(r"\w")
_MEANINGS: Mapping[Meaning, re.Pattern[str]] = {
    "price": re.compile(DEFINITIONS["PRICE"]), "amount": _MEASURE,
    "number": re.compile(DEFINITIONS["COUNT"]), "name": re.compile(DEFINITIONS["TRADEMARK"]),
    "value": re.compile(r"%(?:\d+\$)?[s@]|\{\w?\}"),
}  # fmt: skip
# What every pattern needs; most texts have none.
_HINT = re.compile(
    rf"[\t`@{{%$&/\\<\d_#\[\ue000-\uf8ff\u20e3{DEFINITIONS['SYMBOL']}]|www\.|\w\.[a-z]|:[a-z]|\w{{80}}"
)


class ProtectedText(NamedTuple):
    """A part of a text that its translation keeps.

    Attributes:
        start: Its first character.
        end: The character after it.
        kind: How it stands in a sentence. A name stands for words, a tag for none, like other protected text in
            brackets of its own; a literal, a code or a number with its unit, is a name that never stands for nothing; a
            reference is read as its character. A break is a tag at which a text ends; `find_protected_text` returns it as
            a tag.
    """

    start: int
    end: int
    kind: Kind


def find_protected_text(text: str) -> list[ProtectedText]:
    """Return what the translation of a text must keep, from left to right."""
    found = [*_match(text)]
    _set_apart_before(text, found)
    _set_apart_after(text, found)
    return found


def divide_at_breaks(text: str) -> list[str]:
    """Return the texts between tags such as ``<br>`` and ``<li>``, and before and behind each its tags.

    Joined they are the text; the first and each second one after it are tags, or empty. What needs no translation
    belongs to the tags beside it. A tag in code or in a message of ICU is a part of that.
    """
    breaks = [kept for kept in _find(text) if kept.kind == "break"] if _BREAK.search(text) else []
    cuts = [0, *(at for kept in breaks for at in kept[:2]), len(text)]
    parts: list[list[str]] = [[]]  # each in pieces: a text may have thousands of tags
    for number, (start, end) in enumerate(pairwise(cuts)):
        part = text[start:end]
        if number % 2 or not (has_words(part) or is_measure(part)):
            parts[-1].append(part)
        else:
            sentence = part.strip()
            before, _, after = part.partition(sentence)
            parts[-1].append(before)
            parts += [[sentence], [after]]
    return ["".join(pieces) for pieces in parts]


def split_protected(text: str, language: str) -> list[str]:
    """Return the sentences of a text, with the white space behind each; what is kept is in one, and its letters and marks end none.

    Args:
        text: Any text.
        language: Its code.
    """
    masked, at = "", 0
    for start, end, _ in find_protected_text(text):
        masked, at = masked + text[at:start] + HIDDEN * (end - start), end
    lengths = map(len, split_sentences(masked + text[at:], language))
    return [text[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]


def list_gaps(text: str, found: Sequence[ProtectedText]) -> list[str]:
    """Return what stands before, between and after protected text."""
    ends = [0, *(kept.end for kept in found)]
    starts = [*(kept.start for kept in found), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def has_words(text: str) -> bool:
    """Return whether a text has a letter besides placeholders, addresses, code, tags and numbers with units."""
    # Most texts without words have no letter at all.
    gaps = list_gaps(text, _match(text)) if any(map(str.isalpha, text)) else []
    return any(map(str.isalpha, "".join(gaps)))


def is_measure(text: str) -> bool:
    """Return whether a text has numbers with units, which the target language may write in another way, and no words."""
    return bool(find_measures(text)) and not has_words(text)


def is_symbol(text: str) -> bool:
    """Return whether a text is a unit, a Roman number, or has no word of two letters, as cells of tables may be.

    One letter of a script without capitals, such as Chinese, is a word.
    """
    core = text.strip().strip("()[].:,;")
    if _LONE_UNIT.fullmatch(core) or _ROMAN_NUMBER.fullmatch(core):
        return True
    words = _LETTERS.findall(text)
    return all(len(word) == 1 and word.lower() != word.upper() for word in words)


def find_meaning(kept: str) -> Meaning:
    """Return what protected text means as it is written: ``%d`` is a number, "12.30 EUR" a price, "5 kg" an amount."""
    return next((meaning for meaning, some in _MEANINGS.items() if some.fullmatch(kept)), "")


def find_measures(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Return where a text, or a part of it, has numbers with units and with codes of currencies.

    Other protected text, such as code, has none.
    """
    end = len(text) if end is None else end
    found = [match.span() for match in _ANY.finditer(text, start, end) if match["literal"]]
    return [span for span in found if _MEASURE.fullmatch(text, *span)]


def is_literal(text: str) -> bool:
    """Return whether a text is a code, a name with the mark of its owner, or a number with its unit."""
    return _LITERAL.fullmatch(text) is not None


@lru_cache(8)  # a line is asked for several times
def _match(text: str) -> tuple[ProtectedText, ...]:
    """Return placeholders, addresses, code, tags and numbers with units, from left to right."""
    found = [kept._replace(kind="tag") if kept.kind == "break" else kept for kept in _find(text)]
    return tuple(_join_touching(text, found))


def _find(text: str) -> list[ProtectedText]:
    """Return what `_match` joins where only marks are between, with the tags at which a text ends."""
    if _HINT.search(text) is None:
        return []
    found = []
    for match in _ANY.finditer(text):
        kind = next(kind for kind in KINDS if match[kind])
        if kind == "reference":
            if (character := unescape(match[0])) == match[0]:
                continue  # there is no such character
            kind = kind if _is_read(character) else "tag"
        found.append(_take_brackets(text, ProtectedText(*match.span(), kind)))
    return found


def _is_read(character: str) -> bool:
    """Return whether a character means something to a reader, or a soft hyphen, which is simply left out."""
    is_symbol = re.match(f"[{DEFINITIONS['SYMBOL']}]", character) is not None
    kind = unicodedata.category(character) if len(character) == 1 else ""
    return not is_symbol and (
        kind == "Zs" or kind[:1] in ("L", "N", "P", "S") or character == "\u00ad"
    )


def _take_brackets(text: str, kept: ProtectedText) -> ProtectedText:
    """Return protected text as a tag with the brackets around it, if it has its own."""
    start, end, _ = kept
    closing = _BRACKETS.get(text[start - 1 : start])
    if closing and text[end : end + 1] == closing:
        return ProtectedText(start - 1, end + 1, "tag")
    return kept


def _join_touching(text: str, found: list[ProtectedText]) -> list[ProtectedText]:
    """Join names and tags with nothing but marks between them, such as "{a}/{b}" and "<b>{name}</b>", to one name."""
    runs: list[list[ProtectedText]] = []
    for kept in found:
        if runs and _touches(text, runs[-1][-1], kept):
            runs[-1].append(kept)
        else:
            runs.append([kept])
    return [kept for run in runs for kept in (_join_run(text, run) if len(run) > 1 else run)]


def _touches(text: str, one: ProtectedText, other: ProtectedText) -> bool:
    """Return whether only marks stand between two protected parts, and none of them between a tag and what it encloses."""
    is_joinable = {one.kind, other.kind} <= {"name", "tag"}
    if not is_joinable or not _BETWEEN.fullmatch(text, one.end, other.start):
        return False
    opening = ELEMENT.fullmatch(text, one.start, one.end)
    encloses = text.startswith("</", other.start) or (opening and not opening[1] and not opening[3])
    return one.end == other.start or not encloses


def _join_run(text: str, run: list[ProtectedText]) -> list[ProtectedText]:
    """Join parts that touch each other, without the tags at the ends of the run that have no partner in it."""
    whole: set[int] = set()
    opened: list[tuple[int, str]] = []
    for number, kept in enumerate(run):
        tag = ELEMENT.fullmatch(text, kept.start, kept.end)
        if tag is None or tag[3]:
            whole.add(number)
        elif not tag[1]:
            opened.append((number, tag[2]))
        elif opened and opened[-1][1] == tag[2]:
            whole |= {opened.pop()[0], number}
    first, end = min(whole, default=0), max(whole, default=-1) + 1
    has_name = any(kept.kind == "name" for kept in run[first:end])
    if not has_name or end - first == 1 or not whole.issuperset(range(first, end)):
        return run
    joined = ProtectedText(run[first].start, run[end - 1].end, "name")
    return [*run[:first], _take_brackets(text, joined), *run[end:]]


def _set_apart_before(text: str, found: list[ProtectedText]) -> None:
    """Replace the protected text before a sentence, as in "{name}: Hello", by one tag, which includes the colon and the space."""
    at = count = 0
    for number, kept in enumerate(found):
        if kept.kind == "reference" or _WORD.search(text, at, kept.start):
            break
        at = kept.end
        if separator := _OPENING.match(text, at):
            found[number] = kept._replace(end=separator.end())
            count = number + 1
    if count:
        found[:count] = _join_apart(text, found[:count], 0, found[count - 1].end)


def _set_apart_after(text: str, found: list[ProtectedText]) -> None:
    """Replace the protected text after a sentence, as in "Hello. {name}", by one tag, which includes a dash before it."""
    at, first = len(text), len(found)
    for number, kept in reversed([*enumerate(found)]):
        if kept.kind == "reference" or _WORD.search(text, kept.end, at):
            break
        at = kept.start
        if separator := _CLOSING.search(text, found[number - 1].end if number else 0, at):
            if separator["dash"]:
                found[number] = kept._replace(start=separator.start("dash"))
            first = number
    if first < len(found):
        found[-1] = found[-1]._replace(end=len(text.rstrip()))
        found[first:] = _join_apart(text, found[first:], found[first].start, found[-1].end)


def _join_apart(text: str, group: list[ProtectedText], start: int, end: int) -> list[ProtectedText]:
    """Return one tag from ``start`` to ``end``, or the same parts as tags if some are tags of HTML or XML."""
    if any(text.startswith("<", kept.start) for kept in group):
        return [kept._replace(kind="tag") for kept in group]
    return [ProtectedText(start, end, "tag")]
