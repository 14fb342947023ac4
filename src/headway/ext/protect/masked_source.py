"""A masked source: the text that a model reads in the place of a segment with placeholders or terms of a glossary."""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from headway.ext.protect.gaps import Gap
from headway.ext.protect.steady_phrases import SteadyPhrase
from headway.text import Span, find_words, word_at
from headway.translation import Constraint


class PlaceholderWord(NamedTuple):
    """A word or phrase that the model translates in the same way in most sentences, or nothing.

    Attributes:
        text: What the model reads; "": nothing, because the sentence may be whole without a placeholder.
        alternatives: The target token ids of its translations.
        known: Says where it fits; None: it is a word that is copied, or nothing beside such words.
    """

    text: str
    alternatives: tuple[tuple[int, ...], ...]
    known: SteadyPhrase | Gap | None = None

    def fit(self, neighbors: tuple[str, str]) -> float:
        """Return how well it fits between two neighbors; see `SteadyPhrase.fit` and `Gap.fit`."""
        return 0.0 if self.known is None else self.known.fit(*neighbors)

    def is_within(self, other: "PlaceholderWord") -> bool:
        """Return whether a translation of it is one of another placeholder word, or a part of one."""
        return not _list_parts(other.alternatives).isdisjoint(self.alternatives)


@lru_cache(1024)
def _list_parts(alternatives: tuple[tuple[int, ...], ...]) -> frozenset[tuple[int, ...]]:
    """Return all runs of tokens in alternatives."""
    return frozenset(
        tokens[start:end]
        for tokens in alternatives
        for start, end in combinations(range(len(tokens) + 1), 2)
    )


NOTHING = PlaceholderWord("", ())


class ProtectedName(NamedTuple):
    """Protected text for which the model reads a placeholder word.

    Attributes:
        text: The protected text.
        alternatives: The translations of the placeholder word, as tokens, one of whose places it takes.
        read: Where the placeholder word is in the masked source.
        source: Where the segment has what is kept.
    """

    text: str
    alternatives: tuple[tuple[int, ...], ...]
    read: Span
    source: Span


class ProtectedTag(NamedTuple):
    """A tag that the model does not read.

    Attributes:
        text: The tag.
        word: How many words of the masked source begin before it.
        is_attached: Whether a word ends at it.
        is_followed: Whether something follows it without a space.
        name: Where the segment has it, if it is a name that the model does not read, so that no word may touch it.
    """

    text: str
    word: int
    is_attached: bool
    is_followed: bool
    name: Span | None = None


class PlacedTerm(NamedTuple):
    """A term of a glossary in a masked source.

    Attributes:
        start: Its first character in the masked source.
        end: The character after it.
        renderings: Each of them translates it.
    """

    start: int
    end: int
    renderings: tuple[str, ...]


class MaskedSource(NamedTuple):
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
        references: Pairs of a character and the reference of HTML with which the source writes it.
        literals: Where ``text`` has codes and numbers with units that the translation must contain.
    """

    text: str
    ids: list[int]
    constraints: tuple[Constraint, ...]
    names: tuple[ProtectedName, ...]
    tags: tuple[ProtectedTag, ...]
    terms: tuple[PlacedTerm, ...]
    pieces: tuple[tuple[str, str], ...]
    references: tuple[tuple[str, str], ...] = ()
    literals: tuple[Span, ...] = ()

    @property
    def source(self) -> str:
        """The segment."""
        return "".join(source for _, source in self.pieces)

    def replace_terms(self, choose: Callable[[str, tuple[str, ...]], str]) -> str:
        """Return the text with what ``choose`` returns for each term and its renderings in the term's place."""
        text, at = "", 0
        for start, end, renderings in self.terms:
            text += self.text[at:start] + choose(self.text[start:end], renderings)
            at = end
        return text + self.text[at:]

    @property
    def words(self) -> tuple[int, ...]:
        """For each word of ``text`` the number of its word in the segment."""
        places: list[int] = []  # for each character of ``text`` its place in the segment
        at = 0
        for written, source in self.pieces:
            common = range(len(written)) if written == source else [0] * len(written)
            places += [at + i for i in common]
            at += len(source)
        words = find_words(self.source)
        return tuple(max(0, word_at(words, places[start])) for start, _ in find_words(self.text))
