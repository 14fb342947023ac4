"""A masked source while it is written, from left to right."""

import re

from headway.ext.protect.masked_source import MaskedSource, PlacedTerm, ProtectedName, ProtectedTag
from headway.ext.protect.protected_text import ELEMENT
from headway.text import Span, find_words
from headway.translation import Constraint

Alternatives = tuple[tuple[int, ...], ...]  # translations of a placeholder word, as tokens
_CLOSING = re.compile(r"[.,;:!?]")


class MaskedSourceDraft:
    """A masked source that is being written; see `MaskedSource` for its parts."""

    def __init__(self) -> None:
        self.text = ""
        self.constraints: list[Constraint] = []
        self.names: list[ProtectedName] = []
        self.tags: list[ProtectedTag] = []
        self.terms: list[PlacedTerm] = []
        self.literals: list[Span] = []
        self.pieces: list[tuple[str, str]] = []
        self.references: dict[str, str] = {}
        self._length = 0  # of the source so far

    def write(self, text: str, source: str) -> None:
        """Add what the model reads for a part of the source."""
        self.pieces.append((text, source))
        self.text += text
        self._length += len(source)

    def write_name(
        self, placeholder_word: str, name: str, alternatives: Alternatives, source: str
    ) -> None:
        """Add a name for which the model reads a placeholder word."""
        read = len(self.text), len(self.text) + len(placeholder_word)
        self.constraints.append(Constraint(alternatives, is_exact=True))
        self.names.append(ProtectedName(name, alternatives, read, self._span(source)))
        self.write(placeholder_word, source)

    def _span(self, source: str) -> Span:
        """Return where the segment has what is read next."""
        return self._length, self._length + len(source)

    def hang(self, kept: str, source: str, following: str, *, is_name: bool) -> None:
        """Add a tag, or a name, that the model does not read, before the character that follows it.

        A punctuation mark moves to the word before, as the model knows it: "a dog {name}." is read as "a dog.".
        """
        is_attached = bool(self.text) and not self.text[-1].isspace()
        is_closed = self.text.strip() and not is_attached and _CLOSING.match(following)
        if is_closed and not ELEMENT.fullmatch(kept) and self._end_at_word():
            kept, is_attached = f" {kept}", True
        word = len(find_words(self.text))
        name = self._span(source) if is_name else None
        self.tags.append(ProtectedTag(kept, word, is_attached, bool(following.strip()), name))
        self.write("", source)

    def _end_at_word(self) -> bool:
        """Remove the white space at the end, and hang the tags in it on the last word, too.

        Returns:
            Whether it was possible: elements with two tags keep their places.
        """
        last = max(n for n, (text, _) in enumerate(self.pieces) if text.strip())
        count = sum(bool(source.strip()) for _, source in self.pieces[last + 1 :])
        first = len(self.tags) - count
        if any(ELEMENT.fullmatch(tag.text) for tag in self.tags[first:]):
            return False
        self.text = self.text.rstrip()
        word = len(find_words(self.text))
        self.tags[first:] = [
            ProtectedTag(f" {t.text}", word, True, True, t.name) for t in self.tags[first:]
        ]
        read, source = self.pieces[last]
        shorter = read.rstrip()
        own = source.removesuffix(read[len(shorter) :])
        rest = [("", source) for _, source in self.pieces[last + 1 :]]
        self.pieces[last:] = [(shorter, own), ("", source[len(own) :]), *rest]
        return True

    def finish(self, ids: list[int]) -> MaskedSource:
        """Return the masked source.

        Args:
            ids: The token ids of ``text``, ``</s>`` last.
        """
        return MaskedSource(
            self.text, ids, tuple(self.constraints), tuple(self.names), tuple(self.tags),
            tuple(self.terms), tuple(self.pieces), tuple(self.references.items()), tuple(self.literals),
        )  # fmt: skip
