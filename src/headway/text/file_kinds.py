"""Files that are not plain text, by the suffixes of their names."""

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


def name_kind(suffix: str) -> str | None:
    """Return what a document is and how to make text of it, by the suffix of its name; None for other files."""
    kind = SUFFIXES.get(suffix.lower())
    return kind and f"{kind.name}: {kind.text}"


def name_conversion(suffix: str) -> str | None:
    """Return what a file is and what to convert it to so that it can be translated, by the suffix of its name.

    None: it can be translated as it is, or nothing is known about files of its name.
    """
    kind = SUFFIXES.get(suffix.lower())
    return f"{kind.name}: convert it to {kind.document}" if kind and kind.document else None
