"""Texts of any length to sentences and back: what stands between them stays as it is."""

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.inference.splitting import split_sentences
from headway.serving.languages import UNSPACED, translatable

# A run of white space is looked at once, from its beginning, however long it is.
_BREAKS = re.compile(r"((?<!\s)\s*[\n\r]\s*)")
_ENDS = re.compile(r"[.!?…。！？।؟][^\w\s]*\s*\S")
WORDS = re.compile(r"\S+")
Span = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """A text taken apart: ``glue[0] + cores[0] + glue[1] + ... + glue[n]`` is the text.

    Attributes:
        glue: White space, and what has no letters or digits.
        cores: Sentences or lines, to be translated.
    """

    glue: list[str]
    cores: list[str]

    @classmethod
    def of(cls, text: str, language: str, split: bool = True) -> "Passage":
        """Take a text apart.

        Args:
            text: Anything.
            language: Code; its abbreviations do not end sentences.
            split: Whether each sentence of a line is translated by itself.
        """
        glue, cores = [""], []
        for number, line in enumerate(_BREAKS.split(text)):
            if number % 2:
                glue[-1] += line
                continue
            pieces = split_sentences(line, language) if split and _ENDS.search(line) else [line]
            for piece in pieces:
                core = piece.strip()
                if not translatable(core):
                    glue[-1] += piece
                    continue
                before, _, after = piece.partition(core)
                glue[-1] += before
                cores.append(core)
                glue.append(after)
        return cls(glue, cores)

    def join(self, translations: Sequence[str], language: str) -> tuple[str, list[int]]:
        """Put translations in the places of the sentences.

        Args:
            translations: One for each core.
            language: Code of theirs: most put a space between sentences that had none.

        Returns:
            The text, and where in it each translation starts.
        """
        gaps = self.gaps(language)
        text, starts = gaps[0], []
        for translation, gap in zip(translations, gaps[1:], strict=True):
            starts.append(len(text))
            text += translation + gap
        return text, starts

    def gaps(self, language: str) -> list[str]:
        """Return what stands before, between and behind the translations."""
        inner = self.glue[1:-1]
        if language not in UNSPACED:
            inner = [gap or " " for gap in inner]
        return [self.glue[0], *inner, self.glue[-1]] if self.cores else self.glue

    def starts(self) -> list[int]:
        """Return where in the text each core starts."""
        found, at = [], len(self.glue[0])
        for core, glue in zip(self.cores, self.glue[1:], strict=True):
            found.append(at)
            at += len(core) + len(glue)
        return found


@dataclass
class Links:
    """Which words belong together.

    Attributes:
        source: Where each source word starts and ends, in characters.
        target: The same of the translation.
        pairs: (source word, target word).
    """

    source: list[Span] = field(default_factory=list)
    target: list[Span] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def between(cls, text: str, translation: str) -> "Links":
        """Begin with the words of two texts, none linked."""
        return cls(words(text), words(translation))

    def add(
        self, core: str, start: int, text: str, begins: int, pairs: Sequence[tuple[int, int]]
    ) -> None:
        """Link the words of a sentence and its translation, given where they start."""
        own, theirs = words(core, start), words(text, begins)
        self.pairs += dict.fromkeys(
            (_at(self.source, own[source][0]), _at(self.target, theirs[target][0]))
            for source, target in pairs
            if source < len(own) and target < len(theirs)
        )

    def then(self, other: "Links") -> "Links":
        """Go on through links from this target text to a third text."""
        sources: dict[int, list[int]] = {}
        for source, target in self.pairs:
            sources.setdefault(target, []).append(source)
        through = dict.fromkeys(
            (source, last)
            for middle, last in other.pairs
            for source in sources.get(_at(self.target, other.source[middle][0]), [])
        )
        return Links(self.source, other.target, list(through))

    @classmethod
    def same(cls, text: str) -> "Links":
        """Link each word of a text that stays as it is to itself."""
        found = words(text)
        return cls(found, list(found), [(i, i) for i in range(len(found))])


def _at(spans: Sequence[Span], place: int) -> int:
    """Return the number of the word that a character belongs to."""
    return bisect_right(spans, (place, sys.maxsize)) - 1


def words(text: str, start: int = 0) -> list[Span]:
    """Return where each word of a text starts and ends, counted from ``start``."""
    return [(start + m.start(), start + m.end()) for m in WORDS.finditer(text)]
