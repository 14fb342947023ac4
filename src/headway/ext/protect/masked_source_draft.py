"""A masked source while it is written, from left to right."""

import re

from headway.ext.protect.marked_text import SourcePart
from headway.ext.protect.masked_source import MaskedSource, ProtectedTag
from headway.ext.protect.protected_text import ELEMENT, SYMBOLS
from headway.text import find_words, is_word_character
from headway.translation import Constraint

_CLOSING = re.compile(r"[.,;:!?]")
_BEFORE_WORDS = "([{\"'“”„‟«»‹›‘’‚-/"  # a symbol behind them belongs to the word


class MaskedSourceDraft:
    """A masked source that is being written; see `MaskedSource` for its parts."""

    def __init__(self) -> None:
        self.text = ""
        self.parts: list[SourcePart] = []
        self.tags: list[ProtectedTag] = []
        self._length = 0  # of the source so far

    def write(self, part: SourcePart) -> SourcePart:
        """Add a part of the source, and return it with its places."""
        part = part._replace(start=len(self.text), at=self._length)
        self.parts.append(part)
        self.text += part.read
        self._length += len(part.source)
        return part

    def hang(self, part: SourcePart, following: str) -> None:
        """Add a tag, or a name, that the model does not read, before the character that follows it.

        Between two words, the model reads a space for a symbol. A punctuation mark moves to the word before, as the model knows it: "a dog {name}." is read as "a dog.".
        """
        kept = part.renderings[0]
        is_attached = bool(self.text) and not self.text[-1].isspace()
        is_closed = self.text.strip() and not is_attached and _CLOSING.match(following)
        if is_closed and not ELEMENT.fullmatch(kept) and self._end_at_word():
            kept, is_attached = f" {kept}", True
        elif is_attached and self._is_symbol_between_words(part, following):
            part, is_attached, following = part._replace(read=" "), False, ""
        word, is_followed = len(find_words(self.text)), bool(following.strip())
        self.tags.append(ProtectedTag(kept, word, is_attached, is_followed, self.write(part)))

    def _is_symbol_between_words(self, part: SourcePart, following: str) -> bool:
        """Return whether a part stands between two words as a symbol or a tab, and is no element, reference or placeholder."""
        if part.source.isspace():
            return bool(following.strip())
        is_before_word = is_word_character(following) and self.text[-1:] not in _BEFORE_WORDS
        return is_before_word and SYMBOLS.fullmatch(part.source) is not None

    def _end_at_word(self) -> bool:
        """Remove the white space at the end, and hang the tags in it on the last word, too.

        Returns:
            Whether it was possible: elements with two tags keep their places.
        """
        last = max(n for n, part in enumerate(self.parts) if part.read.strip())
        count = sum(bool(part.source.strip()) for part in self.parts[last + 1 :])
        first = len(self.tags) - count
        if any(ELEMENT.fullmatch(tag.text) for tag in self.tags[first:]):
            return False
        self.text = self.text.rstrip()
        word = len(find_words(self.text))
        self.tags[first:] = [
            ProtectedTag(f" {tag.text}", word, True, True, tag.part) for tag in self.tags[first:]
        ]
        part, *rest = self.parts[last:]
        read = part.read.rstrip()
        source = part.source.removesuffix(part.read[len(read) :])
        spaces = SourcePart(part.source[len(source) :], at=part.at + len(source))
        self.parts[last:] = [
            part._replace(read=read, source=source),
            *(each._replace(read="", start=len(self.text)) for each in (spaces, *rest)),
        ]
        return True

    def finish(self, ids: list[int]) -> MaskedSource:
        """Return the masked source.

        Args:
            ids: The token ids of ``text``, ``</s>`` last.
        """
        constraints = tuple(
            Constraint(part.alternatives, part.kind == "name", part.kind == "term")
            for part in self.parts
            if part.kind in ("name", "term", "literal") and part.read
        )
        return MaskedSource(self.text, ids, constraints, tuple(self.parts), tuple(self.tags))
