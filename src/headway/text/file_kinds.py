"""Files that are not plain text, recognized by their first bytes or their names."""

import codecs
import re
from pathlib import Path

OFFICE = "save it as plain text in UTF-8"
SHEET = "save it as CSV in UTF-8"
# Suffix -> what such a file is, and the way out.
SUFFIXES = {
    ".docx": f"a Word document: {OFFICE}", ".doc": f"an old Word document: save it as .docx, or {OFFICE[8:]}",
    ".odt": f"an OpenDocument text: {OFFICE}", ".rtf": f"a document in RTF: {OFFICE}",
    ".pdf": f"a PDF document: {OFFICE}", ".pptx": f"a PowerPoint presentation: {OFFICE}",
    ".xlsx": f"an Excel workbook: {SHEET}", ".xls": f"an Excel workbook: {SHEET}",
    ".ods": f"an OpenDocument spreadsheet: {SHEET}",
}  # fmt: skip
# First bytes -> the same.
SIGNATURES = (
    (b"%PDF-", SUFFIXES[".pdf"]),
    (b"{\\rtf", SUFFIXES[".rtf"]),
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
     "an HTML page: its plain text is needed"),
    (re.compile(rb"<\?xml\s"), "an XML document: its plain text is needed"),
    (re.compile(rb"WEBVTT\s|1\s+\d+:\d\d:\d\d[,.]\d+ -->"), "subtitles: their plain text is needed"),
)  # fmt: skip
# Names of files inside a ZIP archive -> the suffix of the document that it is.
MEMBERS = (
    (b"opendocument.text", ".odt"), (b"opendocument.spreadsheet", ".ods"), (b"xl/", ".xlsx"),
    (b"word/", ".docx"), (b"ppt/", ".pptx"),
)  # fmt: skip


def name_by_suffix(path: str) -> str | None:
    """Return what a document is and how to make text of it, by its name; None for other files."""
    return SUFFIXES.get(Path(path).suffix.lower())


def name_by_content(start: bytes) -> str | None:
    """Return the same by the first bytes of a file; None for bytes that may be plain text."""
    if start.startswith(b"PK\x03\x04"):
        found = (SUFFIXES[suffix] for member, suffix in MEMBERS if member in start)
        return next(found, "a ZIP archive (.docx and .xlsx are such), and not text")
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    kinds = [what for signature, what in SIGNATURES if start.startswith(signature)]
    kinds += [what for beginning, what in MARKUP if beginning.match(text)]
    return kinds[0] if kinds else None
