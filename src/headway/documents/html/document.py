"""HTML files."""

import re
from collections.abc import Sequence

from headway.documents.blocks import Block
from headway.documents.html.page import HtmlPage
from headway.documents.html.tokens import MARKUP
from headway.documents.html.values import (
    find_language,
    find_values,
    make_paragraphs,
    replace_languages,
    replace_values,
)
from headway.documents.languages import Language
from headway.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.documents.text_file import check_count, read_text_file

MOST_TAGS = 50_000
_HEAD = 2048  # bytes in which a document names its encoding; the standard looks at 1,024
_ENCODING = re.compile(
    rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)|^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_LATIN = re.compile("iso[-_]?8859[-_]1|latin-?1|(us-)?ascii", re.IGNORECASE)


class HtmlDocument:
    """An HTML file: its attributes that a reader sees and texts of drawings, then its paragraphs.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        declared = _ENCODING.search(data[:_HEAD])
        name = (declared[1] or declared[2]).decode() if declared else ""
        if _LATIN.fullmatch(name):
            name = "cp1252"  # as browsers read it
        self._file = read_text_file(data, options.source, name)
        check_count(sum(1 for _ in MARKUP.finditer(self._file.text)), "tags", MOST_TAGS)
        source = options.source or find_language(self._file.text)
        self._language = Language(source, options.target if source else "")
        self._values = find_values(self._file.text, source)
        self._texts = make_paragraphs(self._values)
        self._blocks = HtmlPage(self._file.text, source).paragraphs

    @property
    def paragraphs(self) -> Sequence[Paragraph[None] | Block]:
        """The values, then the blocks of the document."""
        return [*self._texts, *self._blocks]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its text replaced."""
        count = len(self._texts)
        text = replace_values(self._file.text, self._values, translations[:count])
        # New values do not change where blocks begin and end.
        text = HtmlPage(text, self._language.source).write(translations[count:])
        return self._file.encode_markup(replace_languages(text, self._language))
