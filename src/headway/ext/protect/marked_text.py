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
from headway.text import Tokenizer, is_byte

# Characters without a meaning in Unicode; those of a document's own marks are others.
_FREE = range(0xF0000, 0x110000)
_MARK = re.compile(f"([{chr(_FREE[0])}-{chr(_FREE[-1])}])")


class MarkedPart(NamedTuple):
    """What a private-use character stands for in a marked text.

    Attributes:
        source: The text of the source.
        kind: name: kept, the model reads a placeholder word; tag: kept, the model reads nothing; literal: kept, the
            model reads it or a placeholder word; reference: the model reads its character; term: the model reads the source.
        renderings: Of a term: each of them meets its constraint. Of a reference: its character. Otherwise the text
            that is kept.
    """

    source: str
    kind: str
    renderings: tuple[str, ...]

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
        self.marks: dict[str, MarkedPart] = {}
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
            spans.append((start, end, MarkedPart(source, "name" if is_name else kind, (written,))))
        find_spelled = cache(self._find_spelled)  # a term may occur a thousand times
        for start, end, renderings, is_kept in terms:
            # A rendering that the vocabulary cannot spell is protected text.
            spelled = () if is_kept else find_spelled(renderings)
            rendered = spelled or renderings[:1]
            mark = MarkedPart(text[start:end], "term" if spelled else "name", rendered)
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

    def parts(self, marked: str) -> list[tuple[str, MarkedPart | None]]:
        """Return the parts of a part of the marked text, each with its mark; None: it is ordinary text."""
        split = groupby(filter(None, _MARK.split(marked)), lambda part: part in self.marks and part)
        return [("".join(group), self.marks.get(mark or "")) for mark, group in split]


def _find_terms(glossary: Glossary, text: str, found: Sequence[ProtectedText]) -> list[TermMatch]:
    """Return the terms of a text; they may contain codes and numbers with units, and nothing else that is kept."""
    literals = [(kept.start, kept.end) for kept in found if kept.kind == "literal"]
    others = [(kept.start, kept.end) for kept in found if kept.kind != "literal"]
    return glossary.find(text, others, literals)
