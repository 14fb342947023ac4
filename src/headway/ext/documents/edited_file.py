"""A text file in which only the texts change: every format whose files are edited in place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.text_file import Edit, TextFile, apply_edits


class Entry(Protocol):
    """A part of a file that is written as a whole: a cell, a cue, or a message with its plural."""

    @property
    def start(self) -> int:
        """Where it starts in the file, in characters."""

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
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
    def paragraphs(self) -> list[Paragraph[None]]:
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


class EditedFile:
    """A text file that is edited in place.

    Args:
        file: The file.
        entries: What may change, in the order of the file.
        edits: What changes in any case, such as the code of its language.
    """

    def __init__(
        self, file: TextFile, entries: Sequence[Entry], edits: Iterable[Edit] = ()
    ) -> None:
        self._file, self._entries, self._edits = file, entries, [*edits]
        self._counts: list[int] = []
        self.paragraphs: list[Paragraph[Any]] = []
        line = at = 0
        for entry in entries:
            line, at = line + file.text.count("\n", at, entry.start), entry.start
            found = entry.paragraphs
            self._counts.append(len(found))
            self.paragraphs += found
            for paragraph in found:
                paragraph.place = paragraph.place or f"line {line + 1}"

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its paragraphs replaced."""
        return self._file.encode(apply_edits(self._file.text, self._list_edits(translations)))

    def _list_edits(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return what changes in the file."""
        left, edits = iter(translations), [*self._edits]
        for entry, count in zip(self._entries, self._counts, strict=True):
            edits += entry.edit([*islice(left, count)])
        return edits
