"""A text file in which only the texts change: every format whose files are edited in place."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
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


@dataclass(slots=True)
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


class EditedFile:
    """A text file that is edited in place.

    Args:
        file: The file.
        entries: What may change, in the order of the file.
        edits: What changes in any case, such as the code of its language.
        read: Returns the form in which a paragraph is translated; None: as it is.
    """

    def __init__(
        self,
        file: TextFile,
        entries: Sequence[Entry],
        edits: Iterable[Edit] = (),
        read: ReadForm = lambda paragraph: None,
    ) -> None:
        self._file, self._edits, self._entries = file, [*edits], entries
        self._texts = [[(own, read(own)) for own in entry.paragraphs] for entry in entries]
        self.paragraphs = [
            text
            for own, form in chain.from_iterable(self._texts)
            for text in ((own,) if form is None else form.paragraphs)
        ]

    def list_notices(self) -> list[str]:
        """Return what a user should know about the texts that stay, one line for each thing."""
        forms = (form for _, form in chain.from_iterable(self._texts))
        stay = sum(form is not None and not form.paragraphs for form in forms)
        return [f"messages of ICU that stay as they are: {stay}"] * bool(stay)

    def name_places(self) -> None:
        """Say of each text where it is; see `headway.ext.documents.quality_table.name_places`."""
        line, at = 1, 0
        for entry, texts in zip(self._entries, self._texts, strict=True):
            line, at = line + self._file.text.count("\n", at, entry.start), entry.start
            for own, form in texts:
                own.place = own.place or f"line {line}"
                for each in form.paragraphs if form else ():
                    each.place = own.place

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its paragraphs replaced."""
        return self._file.encode(apply_edits(self._file.text, self._list_edits(translations)))

    def _list_edits(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return what changes in the file."""
        left, edits = iter(translations), [*self._edits]
        for entry, texts in zip(self._entries, self._texts, strict=True):
            edits += entry.edit([_write(own, form, left) for own, form in texts])
        return edits


def _write(own: Paragraph, form: Form | None, left: Iterator[Translated]) -> Translated:
    """Return the translation of a paragraph: the paragraph itself if none of its texts changes."""
    if form is None:
        return next(left)
    found = [next(left) for _ in form.paragraphs]
    if not found:
        return Translated(own.text, is_missing=True)
    is_changed = [each.text for each in found] != [each.text for each in form.paragraphs]
    written = form.write(found) if is_changed else Translated(own.text)
    return replace(written, is_finished=all(each.is_finished for each in found))
