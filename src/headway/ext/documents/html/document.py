"""HTML files."""

import codecs
import re
from contextlib import suppress

from headway.ext.documents.edited_file import MarkedFile
from headway.ext.documents.html.elements import find_code
from headway.ext.documents.html.page import HtmlPage
from headway.ext.documents.html.tokens import MARKUP, tokenize
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.paragraph import DocumentOptions
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


def read_html(data: bytes, options: DocumentOptions) -> MarkedFile:
    """Read an HTML file: its attributes that a reader sees, and then its paragraphs.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """
    file = read_text_file(data, options.source, _find_encoding(data), is_xml=True)
    check_count(sum(1 for _ in MARKUP.finditer(file.text)), "tags", MOST_TAGS)
    source = options.source or _find_language(file.text)
    language = LanguagePair(source, options.target if source else "")
    return MarkedFile(file, HtmlPage(file.text, source, language))


def _find_language(source: str) -> str:
    """Return the language code of a whole document; "" if it names none."""
    for token in tokenize(source):
        if token.kind == "open" and token.name == "html":
            return find_code(token)
    return ""


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
