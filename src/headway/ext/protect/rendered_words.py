"""Words of a translation of which it is known what they translate: those of terms and of protected text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from headway.ext.protect.masked_source import MaskedSource, PlacedTerm
from headway.ext.protect.protected_places import find_placeholder_words
from headway.text import Span, Tokenizer, find_words, is_inside_word, word_at
from headway.translation import WordPairs


def link_rendered(
    tokenizer: Tokenizer,
    masked: MaskedSource,
    tokens: Sequence[int],
    weights: Sequence[Sequence[float]],
) -> WordPairs:
    """Return the links between the words of terms and placeholder words in a masked source and the words that render them.

    Args:
        tokenizer: Of the model.
        masked: What the model has translated.
        tokens: The translation.
        weights: For each word of the translation how much it attends to each word of the masked source.
    """
    text = tokenizer.decode(tokens)
    sides = _Words(masked.text), _Words(text)
    pairs: WordPairs = []
    for number, place in find_placeholder_words(tokenizer, masked.names, tokens, text).items():
        pairs += _pair(*sides, masked.names[number].read, place)
    # A rendering may occur several times: a term gets the occurrence that attends to it most.
    found: list[tuple[float, PlacedTerm, Span, WordPairs]] = []
    for term in masked.terms:
        for place in _find_renderings(term, text):
            links = _pair(*sides, (term.start, term.end), place)
            known = [(s, t) for s, t in links if t < len(weights) and s < len(weights[t])]
            found.append((sum(weights[t][s] for s, t in known), term, place, links))
    placed: set[int] = set()
    taken: set[int] = set()
    for _, term, place, links in sorted(found, key=lambda each: -each[0]):
        if term.start not in placed and taken.isdisjoint(range(*place)):
            placed.add(term.start)
            taken.update(range(*place))
            pairs += links
    return pairs


def link_parts(text: str, translation: str, parts: Sequence[tuple[Span, Span]]) -> WordPairs:
    """Return the links between the words of parts of a text and those of the parts that render them.

    The same words are linked one by one; others belong together as a whole. A word that only begins or ends in a part
    has no link, because it also means something else.
    """
    sides = _Words(text), _Words(translation)
    return [link for span, place in parts for link in _pair(*sides, span, place)]


@dataclass(frozen=True)
class _Words:
    """A text and its words."""

    text: str

    @cached_property
    def spans(self) -> list[Span]:
        return find_words(self.text)

    def find(self, span: Span) -> list[int]:
        """Return the numbers of the words that lie in a part of the text; punctuation may reach beyond it."""
        first, last = (max(0, word_at(self.spans, place)) for place in span)
        numbers = range(first, min(last + 1, len(self.spans)))
        return [number for number in numbers if self._is_inside(self.spans[number], span)]

    def _is_inside(self, word: Span, span: Span) -> bool:
        (start, end), (first, last) = word, span
        rest = self.text[start : max(start, first)] + self.text[min(end, last) : end]
        return start < last and end > first and not any(map(str.isalnum, rest))


def _pair(source: _Words, target: _Words, span: Span, place: Span) -> WordPairs:
    sources, targets = source.find(span), target.find(place)
    is_same = source.text[slice(*span)] == target.text[slice(*place)]
    if is_same and len(sources) == len(targets):
        return [*zip(sources, targets, strict=True)]
    return [*product(sources, targets)]


def _find_renderings(term: PlacedTerm, text: str) -> Iterator[Span]:
    """Yield where a translation has a rendering of a term as whole words."""
    for rendering in term.renderings:
        start = text.find(rendering)
        while start >= 0:
            end = start + len(rendering)
            if not is_inside_word(text, start) and not is_inside_word(text, end):
                yield start, end
            start = text.find(rendering, start + 1)
