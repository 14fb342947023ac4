"""Readings of a segment: what the model reads in the place of text that the translation keeps.

A model has seldom seen ``{name}`` or an address, and translates the words around it badly. So it reads a
stand-in: a phrase that it translates in the same way in most sentences, or a word that it copies. A constraint
makes the translation contain the stand-in exactly as often as the source, and then the kept text takes its place.
Which stand-in fits depends on the sentence ("{count} files", "{name} writes"). The words beside it decide among
phrases. Nothing is known of words that are copied: a segment has several readings with them, and the translation
that the model finds likeliest is taken. Tags stand for no word, so the model does not read them.
"""

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import NamedTuple

from headway.inference.constraints import Constraint
from headway.text.glossary import Glossary
from headway.text.kept_text import find_kept_text
from headway.text.steady_phrases import SteadyPhrase
from headway.text.tokenizer import Tokenizer
from headway.text.words import find_neighbors, is_byte, starts_sentence

READINGS = 3  # of a segment with stand-ins
MOST_TERMS = 32  # of a segment; the time of a step grows with them
WORD = re.compile(r"\S+")


class StandIn(NamedTuple):
    """A word or phrase that the model translates in the same way in most sentences.

    Attributes:
        text: What the model reads.
        alternatives: The target token ids of its translations.
        phrase: Says where it fits; None: it is a word that is copied, and nothing is known.
    """

    text: str
    alternatives: tuple[tuple[int, ...], ...]
    phrase: SteadyPhrase | None = None

    def fit(self, neighbors: tuple[str, str]) -> float:
        """Return how well the phrase fits between two neighbors; see `SteadyPhrase.fit`."""
        return 0.0 if self.phrase is None else self.phrase.fit(*neighbors)


class Mark(NamedTuple):
    """What a private-use character stands for in a marked text.

    Attributes:
        source: The text of the source.
        kind: name: kept, the model reads a stand-in; tag: kept, the model reads nothing; literal: kept, the
            model reads it or a stand-in; term: the model reads the source.
        renderings: Of a term: each of them meets its constraint. Otherwise the text that is kept.
    """

    source: str
    kind: str
    renderings: tuple[str, ...]


class KeptName(NamedTuple):
    """Kept text and the translations of the stand-in, as tokens, one of whose places it takes."""

    text: str
    alternatives: tuple[tuple[int, ...], ...]


class KeptTag(NamedTuple):
    """A tag that the model does not read.

    Attributes:
        text: The tag.
        word: How many words of the reading begin before it.
        is_attached: Whether a word ends at it.
        is_followed: Whether something follows it without a space.
    """

    text: str
    word: int
    is_attached: bool
    is_followed: bool


class Reading(NamedTuple):
    """A form of a segment that the model can translate.

    Attributes:
        text: What the model reads.
        ids: Its token ids, ``</s>`` last.
        constraints: What the translation must contain.
        names: In the order of the source.
        tags: In the order of the source.
        pieces: Pairs of what the model reads and what it stands for, which is mostly the same; joined they
            are ``text`` and the segment.
    """

    text: str
    ids: list[int]
    constraints: tuple[Constraint, ...]
    names: tuple[KeptName, ...]
    tags: tuple[KeptTag, ...]
    pieces: tuple[tuple[str, str], ...]

    @property
    def words(self) -> tuple[int, ...]:
        """For each word of ``text`` the number of its word in the segment."""
        places: list[int] = []  # for each character of ``text`` its place in the segment
        original = ""
        for written, source in self.pieces:
            common = range(len(written)) if written == source else [0] * len(written)
            places += [len(original) + i for i in common]
            original += source
        starts = [places[word.start()] for word in WORD.finditer(self.text)]
        return tuple(max(0, len(original[: start + 1].split()) - 1) for start in starts)


class MarkedText:
    """A text in which each part that a translation keeps or prescribes is one private-use character.

    Args:
        text: Raw text.
        tokenizer: Of the model.
        keep: Whether placeholders, addresses, code, tags and numbers with units are kept.
        glossary: None: there is none.

    Attributes:
        text: The marked text, which can be split like any text.
    """

    def __init__(
        self, text: str, tokenizer: Tokenizer, *, keep: bool, glossary: Glossary | None
    ) -> None:
        self.tokenizer = tokenizer
        self.marks: dict[str, Mark] = {}
        found = [(k.start, k.end, k) for k in find_kept_text(text)] if keep else []
        self.text = text
        parts, at = [], 0
        spans = []
        for start, end, kept in found:
            source = text[start:end]
            [ids] = tokenizer.encode_target([source])
            is_name = kept.kind == "literal" and not self._is_spelled(ids)
            spans.append((start, end, Mark(source, "name" if is_name else kept.kind, (source,))))
        if glossary is not None:
            terms = glossary.find(text, [(start, end) for start, end, _ in found])
            spans += [
                (t.start, t.end, self._mark_term(text[t.start : t.end], t.renderings, t.is_kept))
                for t in terms
            ]
        if not spans:
            return
        first = _free_characters(text, len(spans))
        self._mark = re.compile(f"([{chr(first)}-{chr(first + len(spans) - 1)}])")
        for number, (start, end, mark) in enumerate(sorted(spans)):
            character = chr(first + number)
            self.marks[character] = mark
            parts += [text[at:start], character]
            at = end
        self.text = "".join([*parts, text[at:]])

    def _mark_term(self, source: str, renderings: tuple[str, ...], is_kept: bool) -> Mark:
        """Return the mark of a term; a rendering that the vocabulary cannot spell is kept text."""
        ids = self.tokenizer.encode_target(renderings)
        spelled = [r for r, i in zip(renderings, ids, strict=True) if self._is_spelled(i)]
        if is_kept or not spelled:
            return Mark(source, "name", renderings[:1])
        return Mark(source, "term", tuple(spelled))

    def _is_spelled(self, ids: Sequence[int]) -> bool:
        """Return whether tokens are subwords, and neither unknown characters nor bytes."""
        subwords = self.tokenizer.target_subwords(ids)
        return self.tokenizer.unk not in ids and not any(is_byte(subword) for subword in subwords)

    def restore(self, marked: str) -> str:
        """Return the source of a part of the marked text."""
        return "".join(
            self.marks[character].source if character in self.marks else character
            for character in marked
        )

    def read(
        self,
        marked: str,
        stand_ins: Sequence[StandIn],
        language: str = "",
        *,
        reads_literals: bool = True,
    ) -> Reading:
        """Return what the model reads for a part of the marked text.

        Args:
            marked: The part, without the name of a target language.
            stand_ins: The stand-ins to take, in this order; after the last comes the first again.
            language: The name of the target language that the model reads first, such as ``>>deu<<``.
            reads_literals: Whether the model reads numbers with units, and not stand-ins for them.
        """
        chosen = cycle(stand_ins)
        text, at = "", 0
        pieces: list[tuple[str, str]] = []
        constraints: list[Constraint] = []
        names: list[KeptName] = []
        tags: list[KeptTag] = []
        for part in self._mark.split(marked) if self.marks else [marked]:
            at += len(part)
            mark = self.marks.get(part)
            written = source = part if mark is None else mark.source
            if mark is not None and mark.kind == "tag":
                written = ""
                is_attached = bool(text) and not text[-1].isspace()
                is_followed = bool(marked[at : at + 1].strip())
                tags.append(KeptTag(source, len(text.split()), is_attached, is_followed))
            elif mark is not None and mark.kind == "literal" and reads_literals:
                constraints.append(Constraint(spell_words(self.tokenizer, mark.renderings)))
            elif mark is not None and mark.kind == "term":
                if len(constraints) - len(names) < MOST_TERMS:
                    constraints.append(Constraint(spell_words(self.tokenizer, mark.renderings)))
            elif mark is not None:
                # A model that copies nothing reads the text itself.
                kept = StandIn(source, spell_words(self.tokenizer, mark.renderings)[:1])
                written, alternatives, phrase = next(chosen, kept)
                if phrase is not None and starts_sentence(text):
                    written = phrase.initial
                constraints.append(Constraint(alternatives, is_exact=True))
                names.append(KeptName(mark.renderings[0], alternatives))
            pieces.append((written, source))
            text += written
        ids = self.tokenizer.encode_source([language + text.strip()])[0]
        return Reading(text, ids, tuple(constraints), tuple(names), tuple(tags), tuple(pieces))

    def readings(
        self, marked: str, stand_ins: Callable[[], Sequence[StandIn]], language: str = ""
    ) -> tuple[Reading, ...]:
        """Return the readings of a part of the marked text; none: the model reads the text itself.

        Args:
            marked: The part, without the name of a target language.
            stand_ins: Returns those of the model; called if there is text to replace.
            language: See `read`.
        """
        kept = [self.marks[character] for character in marked if character in self.marks]
        kinds = {mark.kind for mark in kept}
        if kinds.isdisjoint(("name", "literal")):
            return (self.read(marked, (), language),) if kinds else ()
        present = _spell_phrase(marked)
        # A stand-in with a token of a term could only be written as a part of the term.
        terms = [mark for mark in kept if mark.kind in ("term", "literal")]
        taken = {
            t for term in terms for a in spell_words(self.tokenizer, term.renderings) for t in a
        }
        free = [
            each
            for each in stand_ins()
            if _spell_phrase(each.text) not in present
            and not any(taken.intersection(a) for a in each.alternatives)
        ]
        phrases = [each for each in free if each.phrase is not None]
        if phrases:
            ways = (True, False) if "literal" in kinds else (True,)
            return tuple(
                self.read(marked, self._choose(marked, phrases, way), language, reads_literals=way)
                for way in ways
            )
        count = READINGS if "name" in kinds else 2  # literals are read once, and replaced once
        return tuple(
            self.read(marked, [*free[first:], *free[:first]], language, reads_literals=first == 0)
            for first in range(max(1, min(count, len(free))))
        )

    def _choose(
        self, marked: str, phrases: Sequence[StandIn], reads_literals: bool
    ) -> list[StandIn]:
        """Return for each name of the marked text the phrase that fits best between its neighbors.

        No phrase is taken twice while there are others, so that names do not change places.
        """
        kinds = ("name",) if reads_literals else ("name", "literal")
        chosen: list[StandIn] = []
        for at, character in enumerate(marked):
            if character in self.marks and self.marks[character].kind in kinds:
                neighbors = find_neighbors(marked, at, at + 1)
                left = [each for each in phrases if each not in chosen] or phrases
                chosen.append(max(left, key=lambda each: each.fit(neighbors)))
        return chosen


def spell_words(tokenizer: Tokenizer, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the token ids of words, as they are written after a space and after a bracket."""
    bracket, *ids = tokenizer.encode_target(["(", *words])
    inner = tokenizer.encode_target([f"({word}" for word in words])
    found = {tuple(each[:-1]): None for each in ids}
    cut = len(bracket) - 1
    found |= {tuple(each[cut:-1]): None for each in inner if each[:cut] == bracket[:-1]}
    return tuple(each for each in found if each)


def _spell_phrase(text: str) -> str:
    """Return the words of a text without capitals, each between spaces."""
    return " ".join(["", *re.findall(r"\w+", text.casefold()), ""])


def _free_characters(text: str, count: int) -> int:
    """Return the first of ``count`` private-use characters that a text does not contain."""
    used = {ord(character) for character in text if ord(character) >= 0xF0000}
    first = 0xF0000
    while any(first <= code < first + count for code in used):
        first += count
    return first
