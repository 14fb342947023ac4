"""The pieces of a line in which something must stay or come: what the model reads of each, and what it does not read."""

import re
from collections.abc import Callable, Iterator
from typing import cast

from headway.ext.protect.capitals import is_in_capitals
from headway.ext.protect.glossary import Glossary
from headway.ext.protect.masked_source import MaskedSource
from headway.ext.protect.patterns import DEFINITIONS
from headway.ext.protect.placeholder_words import PlaceholderWords
from headway.ext.protect.protected_text import (
    divide_at_breaks,
    find_protected_text,
    has_words,
    is_measure,
)
from headway.ext.protect.text_masking import MarkedText
from headway.text import is_translatable
from headway.translation import Piece, Pipeline, has_ordinals, split_line, split_sentences

MOST_CONSTRAINTS = 16  # of a piece: the states of a search grow with their square
# Before an item of a list: a dash, "2)", "(a)", "[3]"; and what may also be a date or a rank, as in "1. Mai".
_SPACES = DEFINITIONS["SPACE"] + "+"
_LABEL = re.compile(
    rf"(?:[-*+\u2013\u2014]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivx]{{2,5}}|[IVX]{{2,5}})\)|\[\d{{1,3}}\]){_SPACES}(?=\S)"
)
_NUMBER_WITH_DOT = re.compile(rf"(?:\d{{1,3}}(?:\.\d{{1,3}})*|[IVX]{{2,5}})\.{_SPACES}(?=\S)")


def list_pieces(pipeline: Pipeline, line: str, words: PlaceholderWords) -> Iterator[Piece]:
    """Yield the pieces of a line; see `headway.translation.Masking.split`."""
    keep = pipeline.search.keep
    is_kept = not is_translatable(line) or (
        not has_words(line) and find_protected_text(line) and not is_measure(line)
    )
    if not line or (keep and is_kept):
        return
    text = line.removeprefix(pipeline.forward.tokenizer.named_language(line)).lstrip()
    language_name = line[: len(line) - len(text)]
    gap, *parts = divide_at_breaks(text) if keep else [""]
    if not parts:
        gap, parts = "", [text, ""]
    for part, after in zip(parts[::2], parts[1::2], strict=True):
        label = _find_label(pipeline, part) if keep else ""
        pieces = _list_pieces(pipeline, part.removeprefix(label), words, language_name)
        last = next(pieces)._replace(before=gap + label)
        for piece in pieces:
            yield last
            last = piece
        yield last._replace(after=after)
        gap = ""


def _list_pieces(
    pipeline: Pipeline, text: str, words: PlaceholderWords, language_name: str
) -> Iterator[Piece]:
    """Yield the pieces of a text without breaks; the model reads the name of a language before each."""
    tokenizer, languages = pipeline.forward.tokenizer, pipeline.languages
    language, _ = languages
    keep, glossary = pipeline.search.keep, cast("Glossary | None", pipeline.glossary)
    marked = MarkedText(text, tokenizer, keep, glossary, words, languages, language_name)
    # The text as it is written decides: its only words may be terms.
    if is_capital := keep and is_in_capitals(text):
        marked.to_small_letters(language)

    def encode(part: str) -> list[int]:
        return marked.encode(marked.restore(part))

    sentences = split_sentences(marked.text, language) if pipeline.is_split else [marked.text]
    for sentence in sentences:
        for part, masked_source in _divide(marked, sentence, language, encode, pipeline.longest):
            yield part._replace(
                text=marked.restore(part.text),
                masked_source=masked_source,
                is_capital=is_capital,
                language_name=language_name,
            )


def _divide(
    marked: MarkedText,
    text: str,
    language: str,
    encode: Callable[[str], list[int]],
    longest: int,
) -> Iterator[tuple[Piece, MaskedSource | None]]:
    """Yield parts of a marked text with what the model reads of each, shorter ones where there are many constraints.

    Args:
        marked: Has made the text.
        text: Marked text, which does not begin with white space.
        language: Code of its language.
        encode: Marked text -> token ids of what it stands for.
        longest: Tokens of a part, at most.
    """
    for part in split_line(text, language, encode, longest):
        masked = marked.mask(part.text)
        count = len(masked.constraints) if masked else 0
        if count > MOST_CONSTRAINTS:
            fewer = max(1, len(part.ids) * MOST_CONSTRAINTS // count)
            yield from _divide(marked, part.text, language, encode, fewer)
        else:
            yield part, masked


def find_list_label(text: str, language: str, is_split: bool) -> str:
    """Return the label of an item of a list at the beginning of a text, with the spaces behind it, or "".

    Args:
        text: Raw text, which does not begin with white space.
        language: Code of its language.
        is_split: Whether each sentence is translated alone. If so, a number with a full stop is a label where it would
            be a sentence, or where no rank is written so; else it may be a date or a rank, as in "1. Mai".
    """
    label = _LABEL.match(text)
    if label is None and is_split:
        label = _NUMBER_WITH_DOT.match(text)
        is_rank = (
            label and has_ordinals(language) and split_sentences(text, language)[0] != label[0]
        )
        label = None if is_rank else label
    return label[0] if label and has_words(text[label.end() :]) else ""


def _find_label(pipeline: Pipeline, text: str) -> str:
    """Return the label of a list at the beginning of a text, or "" if there is none, or a term begins in it."""
    label = find_list_label(text, pipeline.languages[0], pipeline.is_split)
    terms = pipeline.glossary.find(text) if label and pipeline.glossary else []
    return "" if any(term.start < len(label) for term in terms) else label
