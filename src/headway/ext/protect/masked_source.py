"""What a model reads of a piece in which something must stay or come, and what its translation must contain."""

from collections.abc import Sequence
from typing import NamedTuple

from headway.text import (
    Span,
    Tokenizer,
    find_words,
    word_at,
)
from headway.translation import Constraint


class SourcePart(NamedTuple):
    """A part of a text, and what the model reads for it.

    Attributes:
        source: The part, as the text has it.
        kind: text: the model reads it; name: protected, the model reads a placeholder word or nothing; tag: protected,
            the model reads nothing; literal: protected, the model reads it or a placeholder word; reference: the model
            reads its character; term: the model reads it.
        renderings: Of a term: each of them meets its constraint. Of a reference: its character. Of ordinary text: none.
            Otherwise the text that is kept.
        alternatives: Target token ids, one of which the translation must have.
        read: What the model reads for it.
        start: Its place in what the model reads.
        at: Its place in the piece.
        is_term: Whether it is a term of a glossary; one that the model cannot write, or must keep, is a name.
    """

    source: str
    kind: str = "text"
    renderings: tuple[str, ...] = ()
    alternatives: tuple[tuple[int, ...], ...] = ()
    read: str = ""
    start: int = 0
    at: int = 0
    is_term: bool = False

    @property
    def span(self) -> Span:
        """Where it stands in what the model reads."""
        return self.start, self.start + len(self.read)

    @property
    def own_span(self) -> Span:
        """Where it stands in the piece."""
        return self.at, self.at + len(self.source)

    @property
    def is_tag(self) -> bool:
        """Whether it is protected, and the model reads no word for it."""
        return self.kind == "tag" or (self.kind == "name" and not self.read)


class MaskedSource(NamedTuple):
    """A form of a piece that the model can translate.

    Attributes:
        text: What the model reads.
        ids: Its token ids, ``</s>`` last.
        constraints: What the translation must contain.
        parts: Of the piece, from left to right; what is read for each, joined, is ``text``.
    """

    text: str
    ids: list[int]
    constraints: tuple[Constraint, ...] = ()
    parts: tuple[SourcePart, ...] = ()

    @property
    def source(self) -> str:
        """The piece."""
        return "".join(part.source for part in self.parts)

    @property
    def has_words(self) -> bool:
        """Whether the model reads anything."""
        return any(map(str.isalnum, self.text))

    def find(self, *kinds: str) -> list[SourcePart]:
        """Return the parts of some kinds for which the model reads something."""
        return [part for part in self.parts if part.kind in kinds and part.read]

    def list_term_texts(self, tokenizer: Tokenizer) -> list[str]:
        """Return what the model may write for a piece whose only words are a term: each rendering, the first one first.

        There are none for other pieces. The model would write a sentence with the term, as it has learned from sentences.
        """
        terms = [part for part in self.parts if part.is_term and part.alternatives]
        others = "".join(part.read for part in self.parts if not part.is_term)
        if len(terms) != 1 or any(map(str.isalnum, others)):
            return []
        [term] = terms
        renderings = dict.fromkeys(term.renderings)
        if term.kind == "name":  # put in the place of its placeholder word
            renderings = {tokenizer.decode(term.alternatives[0]): None}
        elif term.read[:1].isupper():
            capitals = {r.casefold(): r for r in term.renderings if r[:1].isupper()}
            renderings = dict.fromkeys(capitals.get(r.casefold(), r) for r in term.renderings)
        before, after = self.text[: term.start], self.text[term.span[1] :]
        return [f"{before}{rendering}{after}".strip() for rendering in renderings]

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
