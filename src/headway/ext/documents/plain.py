"""Plain text files: every line is a paragraph."""

import re

from headway.ext.documents.edited_file import EditedFile, TextEntry
from headway.ext.documents.paragraph import DocumentOptions
from headway.ext.documents.text_file import check_count, read_text_file

_LINE = re.compile(r"[^\r\n]+")


def read_plain(data: bytes, options: DocumentOptions) -> EditedFile:
    """Read a text file.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """
    file = read_text_file(data, options.source)
    check_count(max(map(file.text.count, "\r\n")), "lines")
    lines = (TextEntry(*found.span(), found[0]) for found in _LINE.finditer(file.text))
    return EditedFile(file, [*lines])
