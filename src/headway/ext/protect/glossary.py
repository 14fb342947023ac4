"""Glossaries: terms of a source text, and the words that translate them."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from operator import attrgetter
from typing import NamedTuple
from unicodedata import normalize

from headway.errors import HeadwayError
from headway.ext.protect.protected_text import (
    SYMBOLS,
    ProtectedText,
    find_protected_text,
    is_literal,
)
from headway.text import MARK, is_inside_word, turn_marks_to_letters

# Where a term may begin: at each word, and at each character of scripts without spaces between words.
_PLACES = re.compile(
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1100-\u115f\u1780-\u17ff\u2e80-\U0003ffff]+|\S"
)
# A term must not end inside a word. This checks alphabets; `is_inside_word` checks the other scripts, because a pattern
# with all their characters takes long to compile.
_END = rf"(?-i:(?!(?<=[\w{MARK}])(?<=[\0-\u0dff])(?=[\0-\u0dff])[\w{MARK}]))"
_TYPOGRAPHIC = str.maketrans("\u2019\u2010\u2011", "'--")  # a term is found in both forms
_MARKS = re.compile(
    "(?:[\u00a9\u00ae\u2122]\ufe0f?)?"
)  # of a trademark: it belongs to the term before it
_FLAGS = re.compile(r"(?:\(\?[aiLmsux]+\))?")  # of an expression
_SHOWN = 20  # terms that occur in no text, on standard error
_LONGEST_SHOWN = 40  # characters of a term in a message
MOST_RENDERINGS = 100  # of a term: each may stand at each of its places in a text
_LONGEST_BEGINNING = (
    8  # characters of a term by which it is found; those that begin alike are tried one by one
)


def _word_pattern(word: str) -> str:
    """Return a regular expression for one word of a term; its time is linear in the length of the text."""
    stem = word.removesuffix("*")
    return re.escape(stem) + r"\w*+" * (stem != word)


class TermMatch(NamedTuple):
    """A term in a text.

    Attributes:
        start: Its first character.
        end: The character after it.
        renderings: Each of them translates it; of a term that is kept, the text itself.
        term: The term.
    """

    start: int
    end: int
    renderings: tuple[str, ...]
    term: "Term"


@dataclass(frozen=True)
class Term:
    """An entry of a glossary.

    Attributes:
        source: The term; ``*`` at the end of a word stands for the rest of it. Spaces stand for any white space.
        renderings: Each of them translates it.
        is_case_sensitive: Whether the text must have the capitals of ``source``.
        is_kept: Whether it is not translated.
        is_regex: Whether ``source`` is a regular expression.

    Raises:
        HeadwayError: If there is no source or no rendering, or too many, a term that is kept has a rendering, or the regular
            expression is none.
    """

    source: str
    renderings: tuple[str, ...]
    is_case_sensitive: bool = False
    is_kept: bool = False
    is_regex: bool = False

    def __post_init__(self) -> None:
        if not self.source.replace("*", " ").strip():
            raise HeadwayError("no source term")
        if not self.is_kept and not any(self.renderings):
            raise HeadwayError(
                f"{self._name} has no target; write one after a tab (in .csv, after a comma or a semicolon), or the flag keep if it is not translated"
            )
        if self.is_kept and {*self.renderings} - {self.source}:
            raise HeadwayError(
                f"{self._name} has a target and the flag keep, which means that it is not translated: drop one of them"
            )
        if len(self.renderings) > MOST_RENDERINGS:
            raise HeadwayError(
                f"{self._name} has {len(self.renderings):,} renderings: a term may have {MOST_RENDERINGS} at most"
            )
        if not self.is_regex:
            return  # compiled when it is needed: most terms of a large glossary never are
        try:
            matches_nothing = self.pattern.match("") is not None
        except (re.error, OverflowError, RecursionError) as error:
            raise HeadwayError(f"{self._name} is not a regular expression: {error}") from None
        if matches_nothing:
            raise HeadwayError(f"{self._name} matches a text without characters")

    @property
    def _name(self) -> str:
        """The term for messages; of a very long one the beginning."""
        return f"'{self.source[:_LONGEST_SHOWN]}'"

    @property
    def identity(self) -> tuple[str, bool, bool]:
        """What is equal for two terms that match the same texts."""
        source = self.source
        if not self.is_regex:
            source = normalize("NFC", " ".join(source.split()))
            source = source if self.is_case_sensitive else source.lower()
        return source, self.is_case_sensitive, self.is_regex

    def merge(self, other: "Term") -> "Term":
        """Return this term with the renderings of another one of the same identity after its own.

        Raises:
            HeadwayError: If one of them is kept, and the other is not.
        """
        if self.is_kept != other.is_kept:
            raise HeadwayError(
                f"{other._name} has the flag keep in one row and a target in another: drop one of the rows"
            )
        if self.is_kept:
            return self
        renderings = dict.fromkeys((*self.renderings, *other.renderings))
        return replace(self, renderings=tuple(renderings))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the term at a place of a text with letters for its combining marks.

        A regular expression reads the marks themselves, and of several ends takes one where no word goes on.
        """
        flags = re.NOFLAG if self.is_case_sensitive else re.IGNORECASE
        if self.is_regex:
            re.compile(self.source, flags)  # "a)(b" is none
            own = _FLAGS.match(self.source)
            assert own is not None, "flags may be missing"
            return re.compile(f"{own[0]}(?:{self.source[own.end() :]}){_END}", flags)
        forms = [
            r"\s++".join(map(_word_pattern, turn_marks_to_letters(form).split()))
            for form in self._forms
        ]
        return re.compile("|".join(forms), flags)

    @property
    def beginnings(self) -> set[str]:
        """Texts with one of which every match begins: up to eight characters of its first word, without its capitals."""
        if self.is_regex:
            return {""}
        words = (form.split()[0].removesuffix("*") for form in self._forms)
        return {fold_capitals(word[:_LONGEST_BEGINNING]) for word in words}

    @property
    def _forms(self) -> list[str]:
        """The term as it may be written: letters with their accents as one character each, or as several."""
        source = self.source.strip().translate(_TYPOGRAPHIC)
        return list(dict.fromkeys((source, normalize("NFC", source), normalize("NFD", source))))

    def match(self, text: str, in_letters: str, start: int) -> TermMatch | None:
        """Return the term if it stands in a text as whole words from ``start`` on.

        Args:
            text: Any text.
            in_letters: The text with letters for its combining marks.
            start: The place of a character.
        """
        found = self.pattern.match(text if self.is_regex else in_letters, start)
        if found is None or not found[0] or is_inside_word(text, found.end()):
            return None
        mark = _MARKS.match(text, found.end())
        assert mark is not None, "there may be no mark"
        if self.is_kept:
            return TermMatch(start, mark.end(), (text[start : mark.end()],), self)
        renderings = [*self.renderings]
        if text[start].isupper() and not self.source[0].isupper() and not self.is_case_sensitive:
            # A term at the beginning of a sentence.
            renderings += [r[:1].upper() + r[1:] for r in renderings]
        renderings = [f"{r}{mark[0]}" for r in renderings]
        return TermMatch(start, mark.end(), tuple(dict.fromkeys(renderings)), self)


def strip_renderings(texts: Iterable[str]) -> tuple[str, ...]:
    """Return renderings without white space around them, and without those that are blank."""
    return tuple(text.strip() for text in texts if text.strip())


def fold_capitals(text: str) -> str:
    """Return a text of the same length, which is the same for all texts that differ in capitals.

    These are the texts that an expression finds with ``re.IGNORECASE``, as "ΣΑΣ", "σας" and "σασ".
    """
    return text.lower() if text.isascii() else "".join(map(_fold_capital, text))


@lru_cache(1 << 14)
def _fold_capital(character: str) -> str:
    return character.lower().upper().lower()[0]


class Glossary:
    """Terms, of which the longest is taken where several match; of equal ones the first.

    Args:
        terms: In the order of a file.

    Examples:
        >>> glossary = Glossary.of({"wall": ["Mauer", "Mauern"]})
        >>> [(match.start, match.renderings) for match in glossary.find("Two walls and a wall.")]
        [(16, ('Mauer', 'Mauern'))]
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = list(terms)
        self._by_beginning: dict[str, list[int]] = {}
        for number, term in enumerate(self.terms):
            for beginning in term.beginnings:
                self._by_beginning.setdefault(beginning, []).append(number)
        self._sizes = sorted({len(beginning) for beginning in self._by_beginning})

    @classmethod
    def of(cls, terms: Mapping[str, str | Sequence[str]]) -> "Glossary":
        """Make a glossary of source terms and their renderings, a text or several."""
        return cls(
            [
                Term(source, strip_renderings([target] if isinstance(target, str) else target))
                for source, target in terms.items()
            ]
        )

    def __len__(self) -> int:
        return len(self.terms)

    def _find_alike(self, folded: str, start: int) -> set[int]:
        """Return the numbers of the terms that begin like a folded text does at ``start``."""
        alike = set[int]()
        for size in self._sizes:
            alike.update(self._by_beginning.get(folded[start : start + size], ()))
        return alike

    def find(self, text: str, protected: Sequence[ProtectedText] | None = None) -> list[TermMatch]:
        """Return the terms of a text, from left to right; they do not overlap.

        Args:
            text: Any text.
            protected: What it keeps, by default what `find_protected_text` finds. A code, a number with its
                unit or a symbol is wholly in a term or not at all; in the rest there are no terms.
        """
        protected = find_protected_text(text) if protected is None else protected
        plain = text.translate(_TYPOGRAPHIC)
        in_letters, folded = turn_marks_to_letters(plain), fold_capitals(plain)
        # Where no term begins or ends, and where it has no character.
        inside, closed = set[int](), set[int]()
        for start, end, kind in protected:
            if kind == "tag" and is_literal(text[start + 1 : end - 1]):  # in brackets
                start, end, kind = start + 1, end - 1, "literal"
            elif SYMBOLS.fullmatch(text, start, end):
                kind = "literal"
            (inside if kind == "literal" else closed).update(
                range(start + (kind == "literal"), end)
            )
        found: list[TermMatch] = []
        at = 0  # the end of the last term
        for place in map(re.Match.start, _PLACES.finditer(text)):
            alike = self._find_alike(folded, place)
            if not alike or place < at or place in inside or is_inside_word(text, place):
                continue
            matches = (self.terms[n].match(text, in_letters, place) for n in sorted(alike))
            fitting = (
                m
                for m in matches
                if m and m.end not in inside and closed.isdisjoint(range(place, m.end))
            )
            match = max(fitting, key=attrgetter("end"), default=None)  # the first of equal ones
            if match is not None:
                found.append(match)
                at = match.end
        return found

    def watch(self, name: str, windows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        """Yield texts as they come, and name on standard error at their end the terms that none of them has.

        Args:
            name: The file of the glossary.
            windows: Several texts at a time.
        """
        unused, has_text = dict.fromkeys(self.terms), False
        for texts in windows:
            has_text = has_text or any(map(str.strip, texts))
            for text in texts if unused else ():
                for match in self.find(text):
                    unused.pop(match.term, None)
            yield texts
        if not unused or not has_text:
            return
        if len(unused) == len(self):
            message = (
                f"no term of {name} occurs in the text: terms of the source language stand in the first column,"
                ' as the text has them, without notes such as "(n)"'
            )
        else:
            some = ", ".join(term.source[:_LONGEST_SHOWN] for term in islice(unused, _SHOWN))
            more = f" and {len(unused) - _SHOWN:,} more" if len(unused) > _SHOWN else ""
            message = f"{name}: {len(unused):,} of {len(self):,} terms do not occur in the text: {some}{more}"
        print(message, file=sys.stderr)
