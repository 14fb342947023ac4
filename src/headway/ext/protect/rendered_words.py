"""Words of a translation of which it is known what they translate: those of terms and of protected text."""

from collections.abc import Iterator, Sequence
from itertools import product

from headway.ext.protect.marked_text import SourcePart
from headway.ext.protect.masked_source import MaskedSource
from headway.ext.protect.protected_places import find_placeholder_words
from headway.ext.protect.word_ranges import overlapped
from headway.text import Span, Tokenizer, find_words, is_inside_word
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
    sides = (masked.text, find_words(masked.text)), (text, find_words(text))
    names = masked.find("name")
    places = find_placeholder_words(tokenizer, names, tokens, text).items()
    certain = [(names[number].span, place) for number, place in places]
    # A rendering may occur several times: a term gets the occurrence that attends to it most.
    found: list[tuple[float, SourcePart, Span]] = []
    for term in masked.find("term"):
        for place in _find_renderings(term, text):
            links = _pair(*sides, term.span, place)
            known = [(s, t) for s, t in links if t < len(weights) and s < len(weights[t])]
            found.append((sum(weights[t][s] for s, t in known), term, place))
    placed: set[int] = set()
    taken: set[int] = set()
    for _, term, place in sorted(found, key=lambda each: -each[0]):
        if term.start not in placed and taken.isdisjoint(range(*place)):
            placed.add(term.start)
            taken.update(range(*place))
            certain.append((term.span, place))
    return [link for span, place in certain for link in _pair(*sides, span, place)]


def link_parts(text: str, translation: str, parts: Sequence[tuple[Span, Span]]) -> WordPairs:
    """Return the links between the words of parts of a text and those of the parts that render them.

    The same words are linked one by one; others belong together as a whole. A word that only begins or ends in a part
    has no link, because it also means something else.
    """
    sides = (text, find_words(text)), (translation, find_words(translation))
    return [link for span, place in parts for link in _pair(*sides, span, place)]


_Side = tuple[str, list[Span]]  # a text and where its words stand


def _pair(source: _Side, target: _Side, span: Span, place: Span) -> WordPairs:
    sources, targets = _find_inside(*source, span), _find_inside(*target, place)
    is_same = source[0][slice(*span)] == target[0][slice(*place)]
    if is_same and len(sources) == len(targets):
        return [*zip(sources, targets, strict=True)]
    return [*product(sources, targets)]


def _find_inside(text: str, words: list[Span], span: Span) -> list[int]:
    """Return the numbers of the words that lie in a part of a text; punctuation may reach beyond it."""
    first, last = span
    return [
        number
        for number in range(*overlapped(words, span))
        for start, end in [words[number]]
        if not any(map(str.isalnum, text[start : max(start, first)] + text[min(end, last) : end]))
    ]


def _find_renderings(term: SourcePart, text: str) -> Iterator[Span]:
    """Yield where a translation has a rendering of a term as whole words."""
    for rendering in term.renderings:
        start = text.find(rendering)
        while start >= 0:
            end = start + len(rendering)
            if not is_inside_word(text, start) and not is_inside_word(text, end):
                yield start, end
            start = text.find(rendering, start + 1)
