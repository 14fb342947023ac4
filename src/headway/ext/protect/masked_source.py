"""What a model reads of a piece in which something must stay or come, and what its translation must contain."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from headway.ext.protect.restoring import Restored, link_parts, map_words, restore
from headway.text import Span, Tokenizer
from headway.translation import Constraint, WordPairs, find_alternatives

_MARK = re.compile(r"[^\w\s]")


class SourcePart(NamedTuple):
    """A part of a text, and what the model reads for it.

    Attributes:
        source: The part, as the text has it.
        kind: text: the model reads it; name: protected, the model reads a placeholder word or nothing; literal: a name that
            is never nothing; tag: protected, the model reads nothing; reference: the model reads its character; term: the
            model reads it.
        renderings: Of a term: each of them meets its constraint. Of a reference: its character. Of ordinary text: none.
            Otherwise the text that is kept.
        alternatives: Target token ids, one of which the translation must have.
        read: What the model reads for it.
        start: Its place in what the model reads.
        at: Its place in the piece.
        is_term: Whether it is a term of a glossary; one that the model cannot write, or must keep, is a name.
        mark: What an alternative may end in besides; it is no part of it.
    """

    source: str
    kind: str = "text"
    renderings: tuple[str, ...] = ()
    alternatives: tuple[tuple[int, ...], ...] = ()
    read: str = ""
    start: int = 0
    at: int = 0
    is_term: bool = False
    mark: str = ""

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

    @property
    def words(self) -> list[int]:
        """For each word of ``text`` the number of its word in the piece."""
        return map_words([(p.read, p.source, p.read == p.source) for p in self.parts])

    def list_known(self, tokenizer: Tokenizer) -> list[list[int]]:
        """Return the translations of a piece that needs no model: terms with marks between them have their renderings, protected text is kept.

        The model would write a sentence with them, as it has learned from sentences. There are none for other pieces.
        """
        wanted = [part for part in self.parts if part.alternatives]
        others = "".join(part.read for part in self.parts if not part.alternatives)
        if not wanted or any(map(str.isalnum, others)):
            return []
        if all(part.kind == "name" for part in wanted):  # put in the place of its placeholder word
            names = {part.start: tokenizer.decode(part.alternatives[0]) for part in wanted}
            return tokenizer.encode_target([self._join(names)])
        between = (
            self.text[term.span[1] - 1 : following.start] for term, following in pairwise(wanted)
        )
        are_terms = len(wanted) == 1 or all(part.kind == "term" for part in wanted)
        if not (are_terms and all(map(_MARK.search, between))):
            return []  # the grammar joins terms with nothing but a space between them
        first, best = wanted[0], {term.start: _written_like(term)[0] for term in wanted}
        # Several translations differ in the first term.
        texts = [self._join(best | {first.start: other}) for other in _written_like(first)]
        return tokenizer.encode_target(texts)

    def _join(self, written: Mapping[int, str]) -> str:
        """Return what the model would read, with other words where it must write something, by the places of the parts."""
        words = (written[p.start] if p.alternatives else p.read for p in self.parts)
        return "".join(words).strip()

    def find_rendered(self, tokenizer: Tokenizer, tokens: Sequence[int]) -> dict[int, Span]:
        """Return where a translation has what it must contain: ranges of its characters, by the numbers of the parts."""
        found = find_alternatives(tokenizer, [part.alternatives for part in self.parts], tokens)
        text = tokenizer.decode(tokens) if any(part.mark for part in self.parts) else ""
        for number, (start, end) in found.items():
            mark = self.parts[number].mark
            found[number] = start, end - len(mark) * bool(mark and text.endswith(mark, 0, end))
        return found

    def needs_links(
        self, tokenizer: Tokenizer, tokens: Sequence[int], all_of_them: bool = False
    ) -> bool:
        """Return whether a translation gets links: the model does not read a part, or has not written what it must.

        Args:
            tokenizer: Of the model.
            tokens: The translation.
            all_of_them: Whether any translation with words gets some.
        """
        if not self.has_words or all_of_them or any(part.is_tag for part in self.parts):
            return self.has_words
        wanted = sum(bool(part.alternatives) for part in self.parts)
        return len(self.find_rendered(tokenizer, tokens)) < wanted

    def link_certain(self, tokenizer: Tokenizer, tokens: Sequence[int]) -> WordPairs:
        """Return the links that are certain: between what a translation must contain and what the model has read for it."""
        rendered = self.find_rendered(tokenizer, tokens)
        spans = [(self.parts[number].span, place) for number, place in rendered.items()]
        return link_parts(self.text, tokenizer.decode(tokens), spans)

    def restore(self, tokenizer: Tokenizer, tokens: Sequence[int], links: WordPairs) -> Restored:
        """Return a translation with what the piece keeps; ``links`` are needed if `needs_links` says so."""
        rendered = self.find_rendered(tokenizer, tokens)
        return restore(self, tokenizer.decode(tokens), rendered, links)

    def write(self, tokenizer: Tokenizer, tokens: Sequence[int], links: WordPairs) -> str:
        """Return the text of a translation; a piece of which the model reads no word is kept."""
        if self.has_words:
            return self.restore(tokenizer, tokens, links).text
        return "".join(p.renderings[0] if p.is_tag else p.source for p in self.parts)

    def align(self, tokenizer: Tokenizer, tokens: Sequence[int], links: WordPairs) -> WordPairs:
        """Return the links between the words of the piece and those of what `write` returns.

        Args:
            tokenizer: Of the model.
            tokens: The translation.
            links: Between the words that the model has read and those that it has written.
        """
        if not self.has_words:
            return links
        restored = self.restore(tokenizer, tokens, links)
        sources, targets = self.words, restored.words
        read = [(sources[source], targets[target]) for source, target in links]
        kept = link_parts(self.source, restored.text, restored.kept)
        return sorted(dict.fromkeys([*read, *kept]), key=lambda pair: pair[1])


def _written_like(term: SourcePart) -> list[str]:
    """Return the renderings of a term, those with a capital first letter where the term has one."""
    capitals = {r.casefold(): r for r in term.renderings if r[:1].isupper()}
    is_capital = term.read[:1].isupper()
    found = (capitals.get(r.casefold(), r) if is_capital else r for r in term.renderings)
    return [*dict.fromkeys(found)]
