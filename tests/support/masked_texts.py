"""Masked texts with given placeholder words."""

from itertools import cycle

from headway.ext.protect.placeholder_words import PlaceholderWord, PlaceholderWords, SteadyPhrase
from headway.ext.protect.text_masking import MarkedText
from headway.translation import spell_words


class _Given(PlaceholderWords):
    """Some words, in their order and then again; none: a model reads the names themselves."""

    def __init__(self, words):
        self._given = cycle(words)

    def choose(self, text, written, names):  # type: ignore[no-untyped-def]
        return [next(self._given, None) for _ in names]


def word(tokenizer, text, translation):
    """Return a placeholder word."""
    spelled = spell_words(tokenizer, [translation])
    return PlaceholderWord(SteadyPhrase(text, text, [translation], 1, {}, {}), spelled)


def mark(tokenizer, text, *words, glossary=None, languages=("en", "de")):
    """Mark what a text keeps."""
    return MarkedText(text, tokenizer, True, glossary, _Given(words), languages)


def mask(tokenizer, text, *words, glossary=None):
    """Return what the model reads for a text that keeps something."""
    marked = mark(tokenizer, text, *words, glossary=glossary)
    assert marked.restore(marked.text) == text
    masked = marked.mask(marked.text)
    assert masked is not None
    return masked
