"""A masked source: the text that a model reads in the place of a piece with placeholders or terms of a glossary."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from headway.ext.protect.gaps import Gap
from headway.ext.protect.marked_text import SourcePart
from headway.ext.protect.steady_phrases import SteadyPhrase
from headway.text import find_words, word_at

if TYPE_CHECKING:
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


class ProtectedTag(NamedTuple):
    """A tag, or a name, that the model does not read.

    Attributes:
        text: What the translation has for it.
        word: How many words of the masked source begin before it.
        is_attached: Whether a word ends at it.
        is_followed: Whether something follows it without a space.
        part: The part of the piece; no word may touch a name.
    """

    text: str
    word: int
    is_attached: bool
    is_followed: bool
    part: SourcePart


class MaskedSource(NamedTuple):
    """A form of a piece that the model can translate.

    Attributes:
        text: What the model reads.
        ids: Its token ids, ``</s>`` last.
        constraints: What the translation must contain.
        parts: Of the piece, from left to right; what is read for each, joined, is ``text``.
        tags: In the order of the source.
    """

    text: str
    ids: list[int]
    constraints: "tuple[Constraint, ...]" = ()
    parts: tuple[SourcePart, ...] = ()
    tags: tuple[ProtectedTag, ...] = ()

    @property
    def source(self) -> str:
        """The piece."""
        return "".join(part.source for part in self.parts)

    def find(self, *kinds: str) -> list[SourcePart]:
        """Return the parts of some kinds for which the model reads something."""
        return [part for part in self.parts if part.kind in kinds and part.read]

    @property
    def words(self) -> list[int]:
        """For each word of ``text`` the number of its word in the piece."""
        return map_words([(p.read, p.source, p.read == p.source) for p in self.parts])


def map_words(pieces: Sequence[tuple[str, str, bool]]) -> list[int]:
    """Return for each word of a text the number of its word in a changed form of the text.

    Args:
        pieces: Of both texts, from left to right, and whether each was left as it was; all words of another piece belong
            to its beginning.
    """
    places: list[int] = []  # for each character of the text its place in the changed one
    at = 0
    for piece, changed, is_same in pieces:
        places += range(at, at + len(piece)) if is_same else [at] * len(piece)
        at += len(changed)
    text, words = "".join(p[0] for p in pieces), find_words("".join(p[1] for p in pieces))
    return [max(0, word_at(words, places[start])) for start, _ in find_words(text)]
