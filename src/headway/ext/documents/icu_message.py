"""Read an ICU message, such as ``{n, plural, one {# dog} other {# dogs}}``, and write it in another language.

The text of such a message depends on a number or a word. It is turned into whole sentences, one for each combination
of its cases, because in many languages a case also changes the words around it. Cases that only the language of the
translation has are made from numbers of their own. Source of the syntax: https://unicode-org.github.io/icu/userguide/format_parse/messages/
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.plural_forms import NumberedText, find_categories

MOST_SENTENCES = 24  # of a message
_MOST_PIECES = 10_000  # of a message with so many sentences
MOST_CHOICES = 100  # also of one that was written: text around a choice is in each of its cases
_HEAD = re.compile(
    r"\{\s*(?P<argument>\w+)\s*,\s*(?P<kind>plural|select|selectordinal)\s*,\s*(?P<offset>offset\s*:)?"
)
_SIMPLE = r"\{[^{}'\n]*\}"
_TOKEN = re.compile(
    rf"(?P<head>{_HEAD.pattern})|(?P<text>{_SIMPLE}|[^{{}}'#]+)|(?P<number>'\#'|\#)|''?"
)
_SELECTOR = re.compile(r"\s*(=?[\w-]+)\s*\{")
_QUOTE = re.compile(r"'(?:[{}|]|#(?!'))")
_CLOSING, _END = re.compile(r"\}"), re.compile(r"\s*\}")
_NEEDS_QUOTE = re.compile(r"'(?=[{}#|]|$)")


class MessageChoice(NamedTuple):
    """Cases, one of which is shown.

    Attributes:
        argument: The name of the number or word that chooses.
        kind: plural, select or selectordinal.
        cases: Pairs of a selector and what it shows.
    """

    argument: str
    kind: str
    cases: "Sequence[tuple[str, Parts]]" = ()

    @property
    def number(self) -> str:
        """What `#` means in a case; "" if it means nothing."""
        return "" if self.kind == "select" else f"{{{self.argument}, number}}"


Parts = Sequence[str | MessageChoice]


class _Sentence(NamedTuple):
    """A sentence of a message.

    Attributes:
        text: A number is written as ``{n, number}``.
        number: What `#` means here.
        selector: Of a case that only the translation has; "": the message has it.
        numbered: Such a case has its own number in the place of the count.
    """

    text: str
    number: str
    selector: str = ""
    numbered: NumberedText | None = None

    def write(self, translation: str, is_doubled: bool) -> str:
        """Return a translation as a message has it; ``is_doubled``: apostrophes are written twice."""
        if self.numbered is not None:
            restored = self.numbered.restore(translation)
            inner = self._replace(selector="", numbered=None)
            return (
                ""
                if restored is None
                else f" {self.selector} {{{inner.write(restored, is_doubled)}}}"
            )
        text = translation
        text = text.replace("'", "''") if is_doubled else _NEEDS_QUOTE.sub("''", text)
        if not self.number:
            return text
        parts = re.split(f"({_SIMPLE})", text)  # placeholders have signs of their own
        parts[::2] = [part.replace("#", "'#'") for part in parts[::2]]
        return "".join("#" if part == self.number else part for part in parts)


def is_message(text: str) -> bool:
    """Return whether a text has a choice, so that it is a message, or would be one if it had no mistake."""
    return _HEAD.search(text) is not None


class IcuMessage:
    """A message with at least one choice: a form of a paragraph, which is translated sentence by sentence.

    Args:
        pieces: What stands between its sentences, and these, in their order.
        is_doubled: Whether apostrophes are written twice.
    """

    def __init__(self, pieces: Sequence[str | _Sentence], is_doubled: bool = False) -> None:
        self._pieces, self._is_doubled = pieces, is_doubled
        sentences = [piece for piece in pieces if isinstance(piece, _Sentence)]
        self.paragraphs = [
            Paragraph(each.numbered.filled if each.numbered else each.text) for each in sentences
        ]

    def write(self, translations: Sequence[Translated]) -> Translated:
        """Return the message with its sentences replaced."""
        left = iter(translations)
        pieces = (
            piece if isinstance(piece, str) else piece.write(next(left).text, self._is_doubled)
            for piece in self._pieces
        )
        return Translated("".join(pieces))


def read_message(paragraph: Paragraph, language: str = "") -> IcuMessage | None:
    """Return the message that a paragraph is, or None; one that is too complicated has no sentences, and stays.

    So does one with inline elements: they belong to cases, which links of words do not know.

    Args:
        paragraph: Any paragraph.
        language: That of the translation; "" if it is not known.
    """
    if not is_message(paragraph.text):
        return None
    found = None if paragraph.elements else parse_message(paragraph.text, language)
    return found or IcuMessage([paragraph.text])


def parse_message(text: str, language: str = "") -> IcuMessage | None:
    """Return the message that a text is; None: it is no message with choices, or too complicated a one.

    Quoted braces, offsets, and more than `MOST_SENTENCES` sentences are too complicated.
    """
    if not is_message(text) or _QUOTE.search(text.replace("''", "")):
        return None
    reader = _Reader(text)
    try:
        parts = reader.read("")
    except ValueError:
        return None
    if reader.at < len(text):
        return None
    pieces = [*islice(_spread(parts, "", find_categories(language)), _MOST_PIECES)]
    count = sum(isinstance(each, _Sentence) and not each.selector for each in pieces)
    return IcuMessage(pieces, "''" in text) if count <= MOST_SENTENCES else None


class _Reader:
    """Reads a message from left to right; a `ValueError` says that it is none that can be translated."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self._choices = text, 0, 0

    def read(self, number: str) -> Parts:
        """Read up to a brace that does not belong to a choice or a placeholder; ``#`` means the number."""
        parts: list[str | MessageChoice] = []
        while found := _TOKEN.match(self.text, self.at):
            self.at = found.end()
            if found["head"]:
                parts.append(self._read_choice(found))
            elif found["text"] or (found["number"] and not number):
                parts.append(found[0])
            elif found["number"]:
                parts.append("#" if found[0] == "'#'" else number)
            else:
                parts.append("'")
        return parts

    def _read_choice(self, head: re.Match[str]) -> MessageChoice:
        """Read the cases of a choice, and its end."""
        self._choices += 1
        choice = MessageChoice(head["argument"], head["kind"])
        cases: list[tuple[str, Parts]] = []
        if head["offset"] or self._choices > MOST_CHOICES:
            raise ValueError
        while selector := _SELECTOR.match(self.text, self.at):
            self.at = selector.end()
            cases.append((selector[1], self.read(choice.number)))
            self._take(_CLOSING)
        self._take(_END)
        if "other" not in dict(cases):
            raise ValueError
        return choice._replace(cases=cases)

    def _take(self, pattern: re.Pattern[str]) -> None:
        """Read what has to come now."""
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError
        self.at = found.end()


def _spread(parts: Parts, number: str, categories: Mapping[str, int]) -> Iterator[str | _Sentence]:
    """Yield a message after moving the text around its choices into their cases: each case is then one sentence or one choice.

    Args:
        parts: Of a message.
        number: What `#` means here.
        categories: The cases of plurals that only the language of the translation has, each with a number of it.
    """
    for at, part in enumerate(parts):
        if isinstance(part, str):
            continue
        yield f"{{{part.argument}, {part.kind},"
        known = {name for name, _ in part.cases} if part.kind == "plural" else {*categories}
        for name, case in part.cases:
            inner = _spread((*parts[:at], *case, *parts[at + 1 :]), part.number, categories)
            first = next(inner)
            if name == "other" and isinstance(first, _Sentence) and part.number in first.text:
                for other, own in categories.items():
                    numbered = NumberedText(first.text, part.number, own)
                    if other not in known:
                        yield first._replace(selector=other, numbered=numbered)
            yield from (f" {name} {{", first, *inner, "}")
        yield "}"
        return
    yield _Sentence("".join(map(str, parts)), number)
