"""A text file in which only the texts change: every format whose files are edited in place."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from headway.ext.documents.marked_text import MarkedText
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.text_file import Edit, TextFile, apply_edits


class Entry(Protocol):
    """A part of a file that is written as a whole: a cell, a cue, or a message with its plural."""

    @property
    def start(self) -> int:
        """Where it starts in the file, in characters."""

    @property
    def paragraphs(self) -> Sequence[Paragraph]:
        """What is translated; one that names no place is found by the number of its line."""

    def edit(self, translations: Sequence[Translated]) -> Iterable[Edit]:
        """Return what changes in the file.

        Args:
            translations: One for each paragraph.
        """


@dataclass
class TextEntry:
    """An entry that is one text, and is written as it is.

    Attributes:
        start: Where it starts in the file.
        end: Where it ends.
        text: What it means.
        place: Where a person finds it; "": by its line.
    """

    start: int
    end: int
    text: str
    place: str = ""

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The text."""
        return [Paragraph(self.text, place=self.place)]

    def edit(self, translations: Sequence[Translated]) -> Iterator[Edit]:
        """Yield the edit that replaces the text if it changes."""
        [translated] = translations
        if translated.text != self.text:
            yield Edit(self.start, self.end, self.write(translated.text))

    def write(self, text: str) -> str:
        """Return a text as it stands in the file."""
        return text


@dataclass
class MarkedEntry:
    """An entry that is a text with markup.

    Attributes:
        start: Where it starts in the file.
        end: Where it ends.
        text: The text.
    """

    start: int
    end: int
    text: MarkedText

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The paragraphs of the text."""
        return self.text.paragraphs

    def edit(self, translations: Sequence[Translated]) -> Iterator[Edit]:
        """Yield the edit that replaces the text."""
        yield Edit(self.start, self.end, self.text.write(translations))


class MarkedFile:
    """A text file that is one text with markup."""

    def __init__(self, file: TextFile, text: MarkedText) -> None:
        self._file, self._text, self.paragraphs = file, text, text.paragraphs

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its paragraphs replaced."""
        return self._file.encode(self._text.write(translations))


class Form(Protocol):
    """What is translated instead of a paragraph: sentences of a message, a label without its mnemonic."""

    @property
    def paragraphs(self) -> Sequence[Paragraph]:
        """The texts that are translated; there are none if the paragraph stays."""

    def write(self, translations: Sequence[Translated]) -> Translated:
        """Return the translation of the paragraph, in which each text is replaced by one of the translations."""


ReadForm = Callable[[Paragraph], Form | None]


class _Text:
    """A paragraph, and the form in which it is translated.

    Args:
        own: The paragraph.
        readings: Each returns the form of a paragraph, or None; those behind the first that finds one read the
            paragraphs of the form.
    """

    def __init__(self, own: Paragraph, readings: Sequence[ReadForm]) -> None:
        self.own, self._inner = own, list[_Text]()
        self.form: Form | None = None
        for number, read in enumerate(readings, 1):
            if form := read(own):
                self.form = form
                texts = (replace(each, place=own.place) for each in form.paragraphs)
                self._inner = [_Text(each, readings[number:]) for each in texts]
                break

    @property
    def paragraphs(self) -> list[Paragraph]:
        """What is translated."""
        inner = [each for text in self._inner for each in text.paragraphs]
        return [self.own] if self.form is None else inner

    def write(self, left: Iterator[Translated]) -> Translated:
        """Return the translation of the paragraph; a form whose texts do not change is the paragraph as it is."""
        if self.form is None:
            return next(left)
        found = [text.write(left) for text in self._inner]
        if not found:
            return Translated(self.own.text, is_missing=True)
        is_changed = [each.text for each in found] != [text.own.text for text in self._inner]
        kept = {each.start: (each.start, each.end) for each in self.own.elements}
        written = self.form.write(found) if is_changed else Translated(self.own.text, kept=kept)
        return replace(written, is_finished=all(each.is_finished for each in found))


class EditedFile:
    """A text file that is edited in place.

    Args:
        file: The file.
        entries: What may change, in the order of the file.
        edits: What changes in any case, such as the code of its language.
        readings: See `_Text`.
    """

    def __init__(
        self,
        file: TextFile,
        entries: Sequence[Entry],
        edits: Iterable[Edit] = (),
        readings: Sequence[ReadForm] = (),
    ) -> None:
        self._file, self._edits = file, [*edits]
        self._entries: list[tuple[Entry, list[_Text]]] = []
        line = at = 0
        for entry in entries:
            line, at = line + file.text.count("\n", at, entry.start), entry.start
            found = entry.paragraphs
            for paragraph in found:
                paragraph.place = paragraph.place or f"line {line + 1}"
            self._entries.append((entry, [_Text(each, readings) for each in found]))
        texts = [text for _, own in self._entries for text in own]
        self.paragraphs = [paragraph for text in texts for paragraph in text.paragraphs]
        self._stay = sum(text.form is not None and not text.paragraphs for text in texts)

    def list_notices(self) -> list[str]:
        """Return what a user should know about the texts that stay, one line for each thing."""
        return [f"messages of ICU that stay as they are: {self._stay}"] * bool(self._stay)

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its paragraphs replaced."""
        return self._file.encode(apply_edits(self._file.text, self._list_edits(translations)))

    def _list_edits(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return what changes in the file."""
        left, edits = iter(translations), [*self._edits]
        for entry, texts in self._entries:
            edits += entry.edit([text.write(left) for text in texts])
        return edits
