"""Read an ICU message, such as ``{n, plural, one {# dog} other {# dogs}}``, and write it in another language.

The text of such a message depends on a number or a word. It is turned into whole sentences, one for each combination
of its cases, because in many languages a case also changes the words around it. Source of the syntax: https://unicode-org.github.io/icu/userguide/format_parse/messages/
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from headway.ext.documents.paragraph import Paragraph, Translated

MOST_SENTENCES = 24  # of a message
DEEPEST = 6  # choices in choices
_HEAD = re.compile(r"\{\s*(\w+)\s*,\s*(plural|select|selectordinal)\s*,\s*(offset\s*:)?")
_SIMPLE = re.compile(r"\{[^{}'\n]*\}")
_SELECTOR = re.compile(r"\s*(=?[\w-]+)\s*\{")
_TEXT = re.compile(r"[^{}'#]+")
_QUOTE = re.compile(r"'(?:[{}|]|#(?!'))")
_END = re.compile(r"\s*\}")
_NEEDS_QUOTE = re.compile(r"'(?=[{}#|]|$)")


@dataclass(frozen=True)
class MessageChoice:
    """Cases, one of which is shown.

    Attributes:
        argument: The name of the number or word that chooses.
        kind: plural, select or selectordinal.
        cases: Pairs of a selector and what it shows.
    """

    argument: str
    kind: str
    cases: tuple[tuple[str, "tuple[str | MessageChoice, ...]"], ...]

    @property
    def number(self) -> str:
        """What `#` means in a case; "" if it means nothing."""
        return "" if self.kind == "select" else f"{{{self.argument}, number}}"


Parts = tuple[str | MessageChoice, ...]


def is_message(text: str) -> bool:
    """Return whether a text has a choice, so that it is a message, or would be one if it had no mistake."""
    return _HEAD.search(text) is not None


def read_message(paragraph: Paragraph[Any]) -> "IcuMessage | Literal['stays'] | None":
    """Return the message that a paragraph is, or None; one that is too complicated stays as it is.

    So does one with inline elements: they belong to cases, which links of words do not know.
    """
    if not is_message(paragraph.text):
        return None
    return (None if paragraph.elements else IcuMessage.parse(paragraph.text)) or "stays"


class IcuMessage:
    """A message with at least one choice.

    Args:
        parts: Text, in which no character is quoted, and choices.
        is_doubled: Whether apostrophes are written twice.
    """

    def __init__(self, parts: Parts, is_doubled: bool) -> None:
        self._is_doubled = is_doubled
        self._tree = _spread(parts)

    @classmethod
    def parse(cls, text: str) -> "IcuMessage | None":
        """Return the message that a text is; None: it is no message with choices, or too complicated a one.

        Quoted braces, offsets, and more than `MOST_SENTENCES` sentences are too complicated.
        """
        if not is_message(text) or _QUOTE.search(text.replace("''", "")):
            return None
        reader = _Reader(text)
        parts = reader.read("")
        if parts is None or reader.at < len(text):
            return None
        if not 1 <= _count(parts) <= MOST_SENTENCES or _depth(parts) > DEEPEST:
            return None
        return cls(parts, "''" in text)

    @property
    def sentences(self) -> list[str]:
        """The sentences, in the order of the cases; a number is written as ``{n, number}``."""
        return [*_list_leaves(self._tree)]

    @property
    def paragraphs(self) -> list[Paragraph[None]]:
        """The sentences as paragraphs."""
        return [Paragraph(sentence) for sentence in self.sentences]

    def write(self, translations: Sequence[Translated]) -> Translated:
        """Return the message with its sentences replaced.

        Args:
            translations: One for each of `sentences`.
        """
        texts = (each.text for each in translations)
        return Translated(self._write(self._tree, texts, ""))

    def _write(self, tree: "str | MessageChoice", translations: Iterator[str], number: str) -> str:
        """Write a sentence or a choice.

        Args:
            tree: What to write.
            translations: Of the sentences that are left.
            number: What `#` means here.
        """
        if isinstance(tree, MessageChoice):
            cases = (
                f"{selector} {{{self._write(case, translations, tree.number)}}}"
                for selector, (case,) in tree.cases
            )
            return f"{{{tree.argument}, {tree.kind}, {' '.join(cases)}}}"
        text = next(translations)
        text = text.replace("'", "''") if self._is_doubled else _NEEDS_QUOTE.sub("''", text)
        if not number:
            return text
        parts = re.split(f"({_SIMPLE.pattern})", text)  # placeholders have signs of their own
        parts[::2] = [part.replace("#", "'#'") for part in parts[::2]]
        return "".join("#" if part == number else part for part in parts)


class _Reader:
    """Reads a message from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def read(self, number: str) -> Parts | None:
        """Read up to a brace that closes; None: this is no message that can be translated.

        Args:
            number: What `#` means here.
        """
        parts: list[str | MessageChoice] = []
        while self.at < len(self.text) and self.text[self.at] != "}":
            if head := _HEAD.match(self.text, self.at):
                self.at = head.end()
                if head[3] or self.depth == DEEPEST:
                    return None
                self.depth += 1
                choice = self._read_choice(head[1], head[2])
                self.depth -= 1
                if choice is None:
                    return None
                parts.append(choice)
            elif found := _SIMPLE.match(self.text, self.at) or _TEXT.match(self.text, self.at):
                self.at = found.end()
                parts.append(found[0])
            elif self.text[self.at] == "{":
                return None
            elif number and self.text.startswith("'#'", self.at):
                parts.append("#")
                self.at += 3
            elif self.text[self.at] == "#":
                parts.append(number or "#")
                self.at += 1
            else:
                parts.append("'")
                self.at += 1 + self.text.startswith("''", self.at)
        return tuple(parts)

    def _read_choice(self, argument: str, kind: str) -> MessageChoice | None:
        """Read the cases of a choice, and its end."""
        number = MessageChoice(argument, kind, ()).number
        cases: list[tuple[str, Parts]] = []
        while selector := _SELECTOR.match(self.text, self.at):
            self.at = selector.end()
            parts = self.read(number)
            if parts is None or not self.text.startswith("}", self.at):
                return None
            self.at += 1
            cases.append((selector[1], parts))
        end = _END.match(self.text, self.at)
        if end is None or not any(selector == "other" for selector, _ in cases):
            return None
        self.at = end.end()
        return MessageChoice(argument, kind, tuple(cases))


def _count(parts: Parts) -> int:
    """Return how many sentences a message has; 0: it has no choice."""
    total = 1
    choices = [part for part in parts if isinstance(part, MessageChoice)]
    for choice in choices:
        total *= sum(max(1, _count(case)) for _, case in choice.cases)
    return total if choices else 0


def _depth(parts: Parts) -> int:
    """Return how many choices stand in each other, after `_spread`."""
    return sum(
        1 + max((_depth(case) for _, case in part.cases), default=0)
        for part in parts
        if isinstance(part, MessageChoice)
    )


def _spread(parts: Parts) -> "str | MessageChoice":
    """Move the text around choices into their cases, so that each case is one sentence or one choice."""
    for at, part in enumerate(parts):
        if isinstance(part, MessageChoice):
            before, after = parts[:at], parts[at + 1 :]
            cases = ((name, (_spread((*before, *case, *after)),)) for name, case in part.cases)
            return MessageChoice(part.argument, part.kind, tuple(cases))
    return "".join(part for part in parts if isinstance(part, str))


def _list_leaves(tree: "str | MessageChoice") -> Iterator[str]:
    """Yield the sentences of a choice, in the order of the cases."""
    if isinstance(tree, str):
        yield tree
        return
    for _, (case,) in tree.cases:
        yield from _list_leaves(case)
