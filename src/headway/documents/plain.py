"""Plain text files: every line is a paragraph."""

from collections.abc import Sequence

from headway.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.documents.text_file import read_text_file


class PlainDocument:
    """A text file.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        self._file = read_text_file(data, options.source)
        self._lines = self._file.text.splitlines(keepends=True)

    @property
    def paragraphs(self) -> Sequence[Paragraph[None]]:
        """The lines, without their ends."""
        return [Paragraph(line[: _content_end(line)]) for line in self._lines]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its lines replaced."""
        both = zip(self._lines, translations, strict=True)
        return self._file.encode("".join(t.text + line[_content_end(line) :] for line, t in both))


def _content_end(line: str) -> int:
    return len(line.splitlines()[0])
