"""A text in which one private-use character stands for each placeholder, address, tag and term of a glossary."""

import re
from collections.abc import Sequence
from functools import cache
from html import unescape
from itertools import groupby
from typing import NamedTuple

from headway.ext.protect.capitals import find_initials, lower, to_small_letters
from headway.ext.protect.glossary import Glossary, TermMatch
from headway.ext.protect.protected_text import ProtectedText, find_protected_text
from headway.text import Span, Tokenizer, is_byte

# Characters without a meaning in Unicode; those of a document's own marks are others.
_FREE = range(0xF0000, 0x110000)
_MARK = re.compile(f"([{chr(_FREE[0])}-{chr(_FREE[-1])}])")


class SourcePart(NamedTuple):
    """A part of a text, and what the model reads for it.

    Attributes:
        source: The part, as the text has it.
        kind: text: the model reads it; name: protected, the model reads a placeholder word or nothing; tag: protected,
            the model reads nothing; literal: protected, the model reads it or a placeholder word; reference: the model
            reads its character; term: the model reads it.
        renderings: Of a term: each of them meets its constraint. Of a reference: its character. Of ordinary text: none.
            Otherwise the text that is kept.
        read: What the model reads for it.
        alternatives: Target token ids, one of which the translation must have.
        start: Its place in what the model reads.
        at: Its place in the piece.
    """

    source: str
    kind: str = "text"
    renderings: tuple[str, ...] = ()
    read: str = ""
    alternatives: tuple[tuple[int, ...], ...] = ()
    start: int = 0
    at: int = 0

    @property
    def span(self) -> Span:
        """Where it stands in what the model reads."""
        return self.start, self.start + len(self.read)

    @property
    def own_span(self) -> Span:
        """Where it stands in the piece."""
        return self.at, self.at + len(self.source)

    @property
    def is_word(self) -> bool:
        """Whether the model reads a word, or a part of one."""
        if self.kind == "reference":
            return self.renderings[0].isalpha()
        return self.kind != "tag"


class MarkedText:
    """A text with a private-use character in the place of each protected part and of each term.

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
        self.marks: dict[str, SourcePart] = {}
        found = find_protected_text(text) if keep else []
        terms = [] if glossary is None else _find_terms(glossary, text, found)
        in_terms = {at for term in terms for at in range(term.start, term.end)}
        found = [kept for kept in found if kept.start not in in_terms]
        self.text = text
        parts, at = [], 0
        spans = []
        for start, end, kind in found:
            source = text[start:end]
            is_name = kind == "literal" and not self._find_spelled((source,))
            written = unescape(source) if kind == "reference" else source
            spans.append((start, end, SourcePart(source, "name" if is_name else kind, (written,))))
        find_spelled = cache(self._find_spelled)  # a term may occur a thousand times
        for start, end, renderings, is_kept in terms:
            # A rendering that the vocabulary cannot spell is protected text.
            spelled = () if is_kept else find_spelled(renderings)
            rendered = spelled or renderings[:1]
            mark = SourcePart(text[start:end], "term" if spelled else "name", rendered)
            spans.append((start, end, mark))
        if not spans:
            return
        used = set(text)
        free = (character for character in map(chr, _FREE) if character not in used)
        # If there are more than characters for them, the last ones are read as text.
        for (start, end, mark), character in zip(sorted(spans), free, strict=False):
            self.marks[character] = mark
            parts += [text[at:start], character]
            at = end
        self.text = "".join([*parts, text[at:]])

    def _find_spelled(self, renderings: tuple[str, ...]) -> tuple[str, ...]:
        """Return the texts whose tokens are subwords, and neither unknown characters nor bytes."""
        tokenizer = self.tokenizer
        each = zip(renderings, tokenizer.encode_target(renderings), strict=True)
        return tuple(
            text
            for text, ids in each
            if tokenizer.unk not in ids and not any(map(is_byte, tokenizer.target_subwords(ids)))
        )

    def to_small_letters(self, language: str) -> None:
        """Write the text, which is in capitals, as sentences, also its terms.

        Args:
            language: Code of the text's language.
        """
        words = "".join(each for each, mark in self.marks.items() if mark.is_word)
        initials = find_initials(self.text, words)
        self.text = to_small_letters(self.text, language, words)
        for character, mark in self.marks.items():
            if mark.kind == "term":
                write = to_small_letters if character in initials else lower
                self.marks[character] = mark._replace(source=write(mark.source, language))

    def restore(self, marked: str) -> str:
        """Return the source of a part of the marked text."""
        return "".join(
            self.marks[character].source if character in self.marks else character
            for character in marked
        )

    def parts(self, marked: str) -> list[SourcePart]:
        """Return the parts of a part of the marked text."""
        split = groupby(filter(None, _MARK.split(marked)), lambda part: part in self.marks and part)
        return [self.marks.get(mark or "") or SourcePart("".join(group)) for mark, group in split]


def _find_terms(glossary: Glossary, text: str, found: Sequence[ProtectedText]) -> list[TermMatch]:
    """Return the terms of a text; they may contain codes and numbers with units, and nothing else that is kept."""
    literals = [(kept.start, kept.end) for kept in found if kept.kind == "literal"]
    others = [(kept.start, kept.end) for kept in found if kept.kind != "literal"]
    return glossary.find(text, others, literals)
