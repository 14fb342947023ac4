"""Plain text files: every line is a paragraph."""

import re
from collections.abc import Sequence

from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import check_count, read_text_file

_LINE_END = re.compile(r"(\r\n|\n|\r)")


class PlainDocument:
    """A text file.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        self._file = read_text_file(data, options.source)
        check_count(len(_LINE_END.findall(self._file.text)), "lines")
        self._parts = _LINE_END.split(self._file.text)  # a line, its end, the next line, ...

    @property
    def paragraphs(self) -> Sequence[Paragraph[None]]:
        """The lines, without their ends."""
        return [Paragraph(line) for line in self._parts[::2]]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its lines replaced."""
        ends = [*self._parts[1::2], ""]
        return self._file.encode(
            "".join(t.text + end for t, end in zip(translations, ends, strict=True))
        )
