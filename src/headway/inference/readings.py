"""Readings of a segment: what the model reads in the place of text that the translation keeps.

A model has seldom seen ``{name}`` or an address, and translates the words around it badly. So it reads a
stand-in: a phrase that it translates in the same way in most sentences, or a word that it copies. A constraint
makes the translation contain the stand-in exactly as often as the source, and then the kept text takes its place.
Which stand-in fits depends on the sentence ("{count} files", "{name} writes"). The words beside it decide among
phrases. Nothing is known of words that are copied: a segment has several readings with them. It also has one in
which the model reads nothing, because a sentence may be whole without the kept text ("the user {name} has left").
The translation that the model finds likeliest is taken. Tags stand for no word, so the model does not read them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from headway.inference.constraints import Constraint
from headway.inference.marked_text import Mark, MarkedText
from headway.text.steady_phrases import SteadyPhrase
from headway.text.tokenizer import Tokenizer
from headway.text.words import find_neighbors, starts_sentence

COPIES = 3  # readings with words that are copied
MOST_TERMS = 32  # of a segment; the time of a step grows with them
WORD = re.compile(r"\S+")
_CLOSING = re.compile(r"[.,;:!?]")


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


class PlacedTerm(NamedTuple):
    """A term of a glossary in a reading.

    Attributes:
        start: Its first character in the reading.
        end: The character after it.
        renderings: Each of them translates it.
    """

    start: int
    end: int
    renderings: tuple[str, ...]


class Reading(NamedTuple):
    """A form of a segment that the model can translate.

    Attributes:
        text: What the model reads.
        ids: Its token ids, ``</s>`` last.
        constraints: What the translation must contain.
        names: In the order of the source.
        tags: In the order of the source.
        terms: In the order of the source.
        pieces: Pairs of what the model reads and what it stands for, which is mostly the same; joined they
            are ``text`` and the segment.
    """

    text: str
    ids: list[int]
    constraints: tuple[Constraint, ...]
    names: tuple[KeptName, ...]
    tags: tuple[KeptTag, ...]
    terms: tuple[PlacedTerm, ...]
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


class ReadingWriter:
    """Writes the readings of a marked text.

    Args:
        marked: The marked text.
        tokenizer: Of the model.
        stand_ins: Returns those of the model; called if there is text to replace.
        language: The name of a target language that the model reads first, such as ``>>deu<<``.
    """

    def __init__(
        self,
        marked: MarkedText,
        tokenizer: Tokenizer,
        stand_ins: Callable[[], Sequence[StandIn]] = tuple,
        language: str = "",
    ) -> None:
        self.marked, self.tokenizer = marked, tokenizer
        self.stand_ins, self.language = stand_ins, language

    def readings(self, part: str) -> tuple[Reading, ...]:
        """Return the readings of a part of the marked text; none: the model reads the text itself.

        Args:
            part: Without the name of a target language.
        """
        kept = [mark for _, mark in self.marked.parts(part) if mark is not None]
        kinds = {mark.kind for mark in kept}
        if kinds.isdisjoint(("name", "literal")):
            return (self.read(part, ()),) if kinds else ()
        return tuple(self._list_readings(part, kept))

    def _list_readings(self, part: str, kept: Sequence[Mark]) -> Iterator[Reading]:
        """Yield the readings of a part that has text to replace."""
        has_names = any(mark.kind == "name" for mark in kept)
        has_literals = any(mark.kind == "literal" for mark in kept)
        free = self._find_free(part, kept)
        if any(each.phrase is not None for each in free):
            phrases = [each for each in free if each.phrase is not None]
            for way in (True, False) if has_literals else (True,):
                yield self.read(part, self._choose(part, phrases, way), reads_literals=way)
        else:
            count = COPIES if has_names else 2  # literals are read once, and replaced once
            for first in range(max(1, min(count, len(free)))):
                yield self.read(part, [*free[first:], *free[:first]], reads_literals=first == 0)
        if has_names:
            without = self.read(part, (), reads_names=False)
            if any(map(str.isalnum, without.text)):
                yield without

    def _find_free(self, part: str, kept: Sequence[Mark]) -> list[StandIn]:
        """Return the stand-ins that the translation can only contain because of themselves."""
        present = _spell_phrase(part)
        # A stand-in with a token of a term could only be written as a part of the term.
        terms = [mark for mark in kept if mark.kind in ("term", "literal")]
        taken = {
            token
            for term in terms
            for tokens in spell_words(self.tokenizer, term.renderings)
            for token in tokens
        }
        return [
            each
            for each in self.stand_ins()
            if _spell_phrase(each.text) not in present
            and not any(taken.intersection(tokens) for tokens in each.alternatives)
        ]

    def _choose(self, part: str, phrases: Sequence[StandIn], reads_literals: bool) -> list[StandIn]:
        """Return for each name of a part the phrase that fits best between its neighbors.

        No phrase is taken twice while there are others, so that names do not change places.
        """
        kinds = ("name",) if reads_literals else ("name", "literal")
        chosen: list[StandIn] = []
        at = 0
        for text, mark in self.marked.parts(part):
            if mark is not None and mark.kind in kinds:
                neighbors = find_neighbors(part, at, at + 1)
                left = [each for each in phrases if each not in chosen] or phrases
                chosen.append(max(left, key=lambda each: each.fit(neighbors)))
            at += len(text)
        return chosen

    def read(
        self,
        part: str,
        stand_ins: Sequence[StandIn],
        *,
        reads_literals: bool = True,
        reads_names: bool = True,
    ) -> Reading:
        """Return what the model reads for a part of the marked text.

        Args:
            part: Without the name of a target language.
            stand_ins: The stand-ins to take, in this order; after the last comes the first again.
            reads_literals: Whether the model reads numbers with units, and not stand-ins for them.
            reads_names: Whether the model reads stand-ins for names, and not nothing.
        """
        chosen = cycle(stand_ins)
        draft = _Draft()
        at = 0
        for text, mark in self.marked.parts(part):
            at += len(text)
            if mark is None:
                draft.write(text, text)
            elif mark.kind == "tag" or (mark.kind == "name" and not reads_names):
                draft.hang(mark.renderings[0], mark.source, part[at : at + 1])
            elif mark.kind == "term" or (mark.kind == "literal" and reads_literals):
                spelled = spell_words(self.tokenizer, mark.renderings)
                if mark.kind == "literal":
                    draft.constraints.append(Constraint(spelled))
                elif len(draft.terms) < MOST_TERMS:
                    draft.constraints.append(Constraint(spelled, is_term=True))
                    span = len(draft.text), len(draft.text) + len(mark.source)
                    draft.terms.append(PlacedTerm(*span, mark.renderings))
                draft.write(mark.source, mark.source)
            else:
                # A model that copies nothing reads the text itself.
                itself = StandIn(mark.source, spell_words(self.tokenizer, mark.renderings)[:1])
                written, alternatives, phrase = next(chosen, itself)
                if phrase is not None and starts_sentence(draft.text):
                    written = phrase.initial
                draft.constraints.append(Constraint(alternatives, is_exact=True))
                draft.names.append(KeptName(mark.renderings[0], alternatives))
                draft.write(written, mark.source)
        ids = self.tokenizer.encode_source([self.language + draft.text.strip()])[0]
        return Reading(
            draft.text, ids, tuple(draft.constraints), tuple(draft.names), tuple(draft.tags),
            tuple(draft.terms), tuple(draft.pieces),
        )  # fmt: skip


class _Draft:
    """A reading that is being written; see `Reading` for its parts."""

    def __init__(self) -> None:
        self.text = ""
        self.constraints: list[Constraint] = []
        self.names: list[KeptName] = []
        self.tags: list[KeptTag] = []
        self.terms: list[PlacedTerm] = []
        self.pieces: list[tuple[str, str]] = []

    def write(self, text: str, source: str) -> None:
        """Add what the model reads for a part of the source."""
        self.pieces.append((text, source))
        self.text += text

    def hang(self, kept: str, source: str, following: str) -> None:
        """Add a tag that the model does not read, before the character that follows it.

        A punctuation mark moves to the word before, as the model knows it: "a dog {name}." is read as "a dog.".
        """
        is_attached = bool(self.text) and not self.text[-1].isspace()
        is_closed = self.text.strip() and not is_attached and _CLOSING.match(following)
        if is_closed and not kept.startswith("<") and self._end_at_word():
            kept, is_attached = f" {kept}", True
        word = len(self.text.split())
        self.tags.append(KeptTag(kept, word, is_attached, bool(following.strip())))
        self.pieces.append(("", source))

    def _end_at_word(self) -> bool:
        """Remove the white space at the end, and hang the tags in it on the last word, too.

        Returns:
            Whether it was possible: elements with two tags keep their places.
        """
        last = max(n for n, (text, _) in enumerate(self.pieces) if text.strip())
        count = sum(bool(source.strip()) for _, source in self.pieces[last + 1 :])
        first = len(self.tags) - count
        if any(tag.text.startswith("<") for tag in self.tags[first:]):
            return False
        self.text = self.text.rstrip()
        word = len(self.text.split())
        self.tags[first:] = [KeptTag(f" {t.text}", word, True, True) for t in self.tags[first:]]
        shorter = self.pieces[last][0].rstrip()
        space = self.pieces[last][0][len(shorter) :]
        rest = [("", source) for _, source in self.pieces[last + 1 :]]
        self.pieces[last:] = [(shorter, shorter), ("", space), *rest]
        return True


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
