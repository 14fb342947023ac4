"""Files that are not plain text, recognized by their first bytes or their names."""

import codecs
import re
from pathlib import Path
from typing import NamedTuple

OFFICE = "save it as plain text in UTF-8"
SHEET = "save it as CSV in UTF-8"
MARKUP_TEXT = "its plain text is needed"


class FileKind(NamedTuple):
    """A kind of file that is not plain text.

    Attributes:
        name: Such as "a Word document".
        text: How to make plain text of it.
        document: What to convert it to so that it can be translated; "": it can be translated as it is.
    """

    name: str
    text: str
    document: str = ""


_KINDS = {
    ".docx": FileKind("a Word document", OFFICE),
    ".odt": FileKind("an OpenDocument text", OFFICE),
    ".pptx": FileKind("a PowerPoint presentation", OFFICE),
    ".xlsx": FileKind("an Excel workbook", SHEET),
    ".ods": FileKind("an OpenDocument spreadsheet", SHEET),
    ".doc": FileKind("an old Word document", OFFICE, ".docx"),
    ".rtf": FileKind("a document in RTF", OFFICE, ".docx"),
    ".pdf": FileKind("a PDF document", OFFICE, ".docx"),
    ".pages": FileKind("a document of Pages", OFFICE, ".docx"),
    ".wpd": FileKind("a WordPerfect document", OFFICE, ".docx"),
    ".idml": FileKind("an InDesign document", OFFICE, ".html or .docx"),
    ".ppt": FileKind("an old PowerPoint presentation", OFFICE, ".pptx"),
    ".key": FileKind("a presentation of Keynote", OFFICE, ".pptx"),
    ".xls": FileKind("an old Excel workbook", SHEET, ".xlsx"),
    ".numbers": FileKind("a spreadsheet of Numbers", SHEET, ".xlsx"),
    ".fodt": FileKind("an OpenDocument text in one XML file", OFFICE, ".odt"),
    ".fodp": FileKind("an OpenDocument presentation in one XML file", OFFICE, ".odp"),
    ".fods": FileKind("an OpenDocument spreadsheet in one XML file", SHEET, ".ods"),
    ".mobi .azw .azw3": FileKind("a book of Kindle", OFFICE, ".epub"),
    ".fb2": FileKind("a book in FictionBook", OFFICE, ".epub"),
    ".ass .ssa": FileKind("subtitles of SubStation Alpha", MARKUP_TEXT, ".srt"),
    ".sub": FileKind("subtitles of MicroDVD or VobSub", MARKUP_TEXT, ".srt"),
    ".sbv": FileKind("subtitles of YouTube", MARKUP_TEXT, ".srt"),
    ".lrc": FileKind("lyrics with times", MARKUP_TEXT, ".srt"),
    ".ttml .dfxp": FileKind("subtitles in TTML", MARKUP_TEXT, ".vtt"),
    ".yaml .yml": FileKind("a YAML file", MARKUP_TEXT, ".json"),
    ".toml": FileKind("a TOML file", MARKUP_TEXT, ".json"),
    ".ini": FileKind("an INI file", MARKUP_TEXT, ".json"),
    ".json5 .jsonc": FileKind("a JSON file with comments", MARKUP_TEXT, ".json"),
    ".jsonl": FileKind("a file of JSON lines", MARKUP_TEXT, ".json"),
    ".properties": FileKind("a message file of Java", MARKUP_TEXT, ".po or .json"),
    ".php": FileKind("a program or a message file of PHP", MARKUP_TEXT, ".po or .json"),
    ".js .jsx .tsx .vue": FileKind("a program in JavaScript", MARKUP_TEXT, ".json"),
    ".ts": FileKind(
        "a message file of Qt or a program in TypeScript", MARKUP_TEXT, ".xliff or .json"
    ),
    ".strings .xcstrings .stringsdict": FileKind("a message file of Apple", MARKUP_TEXT, ".xliff"),
    ".resx .resw": FileKind("a message file of .NET", MARKUP_TEXT, ".xliff"),
    ".arb": FileKind("a message file of Flutter", MARKUP_TEXT),
    ".ftl": FileKind("a message file of Fluent", MARKUP_TEXT, ".po or .json"),
    ".tmx": FileKind("a translation memory", MARKUP_TEXT, ".xliff"),
    ".sdlxliff .mqxliff": FileKind("a file of Trados or memoQ", MARKUP_TEXT, ".xliff"),
    ".xml": FileKind("an XML document", MARKUP_TEXT, ".xliff or .html"),
    ".svg": FileKind("an SVG drawing", MARKUP_TEXT, ".html"),
    ".tex": FileKind("a TeX document", MARKUP_TEXT, ".md or .html"),
    ".rst": FileKind("a reStructuredText document", MARKUP_TEXT, ".md or .html"),
    ".adoc .asciidoc": FileKind("an AsciiDoc document", MARKUP_TEXT, ".md or .html"),
    ".mdx": FileKind("a Markdown document with components", MARKUP_TEXT, ".md"),
    ".ipynb": FileKind("a notebook of Jupyter", MARKUP_TEXT, ".md"),
    ".org": FileKind("an Org document", MARKUP_TEXT, ".md or .html"),
}
SUFFIXES = {suffix: kind for suffixes, kind in _KINDS.items() for suffix in suffixes.split()}
# First bytes -> what such a file is, and the way out.
SIGNATURES = (
    (b"%PDF-", f"a PDF document: {OFFICE}"),
    (b"{\\rtf", f"a document in RTF: {OFFICE}"),
    (b"\xd0\xcf\x11\xe0", f"a file of Microsoft Office: {OFFICE}"),
    (b"\x89PNG", "an image (PNG), and not text"),
    (b"\xff\xd8\xff", "an image (JPEG), and not text"),
    (b"GIF8", "an image (GIF), and not text"),
    (b"\x7fELF", "a program, and not text"),
    (b"SQLite format 3\0", "a database (SQLite), and not text"),
    (b"\x1f\x8b", "compressed (gzip): decompress it first"),
    (b"\xfd7zXZ", "compressed (xz): decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd): decompress it first"),
    (b"BZh", "compressed (bzip2): decompress it first"),
)
# How text begins that is not plain -> the same.
MARKUP = (
    (re.compile(rb"<!doctype html|<html[\s>]", re.IGNORECASE),
     f"an HTML page: {MARKUP_TEXT}"),
    (re.compile(rb"<\?xml\s"), f"an XML document: {MARKUP_TEXT}"),
    (re.compile(rb"WEBVTT\s|1\s+\d+:\d\d:\d\d[,.]\d+ -->"), "subtitles: their plain text is needed"),
)  # fmt: skip
# Names of files inside a ZIP archive -> the suffix of the document that it is.
MEMBERS = (
    (b"opendocument.text", ".odt"), (b"opendocument.spreadsheet", ".ods"), (b"xl/", ".xlsx"),
    (b"word/", ".docx"), (b"ppt/", ".pptx"),
)  # fmt: skip


def plain_suffix(path: str) -> str:
    """Return the suffix of a file as if it were not compressed, in small letters: ``.csv`` for ``A.CSV.gz``."""
    name = path.lower()
    for suffix in (".gz", ".xz", ".zst"):
        name = name.removesuffix(suffix)
    return Path(name).suffix


def name_by_suffix(path: str) -> str | None:
    """Return what a document is and how to make text of it, by its name; None for other files."""
    kind = SUFFIXES.get(plain_suffix(path))
    return kind and f"{kind.name}: {kind.text}"


def name_by_content(start: bytes) -> str | None:
    """Return the same by the first bytes of a file; None for bytes that may be plain text."""
    if start.startswith(b"PK\x03\x04"):
        found = (name_by_suffix(f"x{suffix}") for member, suffix in MEMBERS if member in start)
        return next(found, "a ZIP archive (.docx and .xlsx are such), and not text")
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    kinds = [what for signature, what in SIGNATURES if start.startswith(signature)]
    kinds += [what for beginning, what in MARKUP if beginning.match(text)]
    return kinds[0] if kinds else None


def name_conversion(path: str) -> str | None:
    """Return what a file is and what to convert it to so that it can be translated, by its name.

    None: it can be translated as it is, or nothing is known about files of its name.
    """
    kind = SUFFIXES.get(plain_suffix(path))
    return f"{kind.name}: convert it to {kind.document}" if kind and kind.document else None
