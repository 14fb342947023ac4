"""HTML files."""

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress

from headway.ext.documents.blocks import Block
from headway.ext.documents.html.html_page import HtmlPage
from headway.ext.documents.html.tokens import MARKUP
from headway.ext.documents.html.values import (
    find_language,
    find_values,
    replace_languages,
    replace_values,
)
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.paragraph import DocumentOptions, Translated
from headway.ext.documents.text_file import check_count, read_text_file

MOST_TAGS = 50_000
_HEAD = 2048  # bytes in which a document names its encoding; the standard looks at 1,024
_ENCODING = re.compile(
    rb"""<meta\b[^<>]*?\bcharset\s*+=\s*+["']?\s*+([\w.:-]+)|^\s*<\?xml[^<>]*?\bencoding\s*+=\s*+["']([\w.:-]+)""",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--(?:-?>|.*?(?:--!?>|\Z))", re.DOTALL)
# What browsers read where a document names these: encodings with more characters (https://encoding.spec.whatwg.org).
_BROWSERS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gbk", "x-gbk": "gbk", "shift_jis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "euc_kr": "cp949",
    "iso-8859-8-i": "iso8859-8", "windows-874": "cp874", "windows-949": "cp949",
}  # fmt: skip
_ONLY_BROWSERS = re.compile(rb"[\x80-\x9f]")  # no text in ISO 8859


class HtmlDocument:
    """An HTML file: its attributes that a reader sees and texts of drawings, then its paragraphs.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        self._file = read_text_file(data, options.source, _find_encoding(data))
        check_count(sum(1 for _ in MARKUP.finditer(self._file.text)), "tags", MOST_TAGS)
        source = options.source or find_language(self._file.text)
        self._language = LanguagePair(source, options.target if source else "")
        self._values = find_values(self._file.text, source)
        self._texts = [block for value in self._values for block in value.blocks]
        self._blocks = HtmlPage(self._file.text, source).paragraphs

    @property
    def paragraphs(self) -> Sequence[Block]:
        """The texts of the values, then the blocks of the document."""
        return [*self._texts, *self._blocks]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its text replaced."""
        count = len(self._texts)
        text = replace_values(self._file.text, self._values, iter(translations[:count]))
        # New values do not change where blocks begin and end.
        text = HtmlPage(text, self._language.source).write(translations[count:])
        return self._file.encode_markup(replace_languages(text, self._language))


def _find_encoding(data: bytes) -> str:
    """Return the encoding that a document names; "" if it names none."""
    declared = _ENCODING.search(_COMMENT.sub(b"", data[:_HEAD]))
    if declared is None:
        return ""
    name = (declared[1] or declared[2]).decode().lower()
    if declared[2] and not _ONLY_BROWSERS.search(data):
        return name  # XML has only the characters of the encoding itself
    with suppress(LookupError):
        name = codecs.lookup(name).name
    return _BROWSERS.get(name, name)
