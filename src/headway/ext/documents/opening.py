"""Documents by the suffixes of their names."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from headway.errors import HeadwayError
from headway.ext.documents.paragraph import Document, DocumentOptions
from headway.ext.documents.text_file import LARGEST, LONGEST_PARAGRAPH
from headway.extension import collect, load
from headway.text import plain_suffix

TABLES = (".csv", ".tsv")
CATALOGS = (".po", ".pot", ".xlf", ".xliff")
CONVERSIONS = {  # what files of other kinds are converted to, so that they can be translated
    ".docx": ".doc .rtf .pdf .pages .wpd",
    ".html or .docx": ".idml",
    ".pptx": ".ppt .key",
    ".xlsx": ".xls .numbers",
    ".odt": ".fodt",
    ".odp": ".fodp",
    ".ods": ".fods",
    ".epub": ".mobi .azw .azw3 .fb2",
    ".srt": ".sbv .lrc",
    ".vtt": ".ttml .dfxp",
    ".json": ".yaml .yml .toml .ini .json5 .jsonc .jsonl .js .jsx .tsx .vue",
    ".po or .json": ".properties .php .ftl",
    ".xliff or .json": ".ts",
    ".xliff": ".strings .xcstrings .stringsdict .resx .resw .tmx .sdlxliff .mqxliff",
    ".xliff or .html": ".xml",
    ".html": ".svg",
    ".md or .html": ".tex .rst .adoc .asciidoc .org",
    ".md": ".mdx .ipynb",
}


def list_suffixes() -> list[str]:
    """Return the suffixes of the files that `open_document` reads."""
    return [*collect("documents")]


def is_document(name: str) -> bool:
    """Return whether a file of this name is more than lines of text."""
    suffix = PurePath(name).suffix.lower()
    return suffix in list_suffixes() and suffix != ".txt"


def is_table(name: str) -> bool:
    """Return whether a file of this name has columns."""
    return PurePath(name).suffix.lower() in TABLES


def has_states(name: str) -> bool:
    """Return whether a file of this name says which translations need a review."""
    return PurePath(name).suffix.lower() in CATALOGS


def check_is_lines(name: str) -> None:
    """Check that a file that is no document may be lines of text.

    Raises:
        HeadwayError: If its name says that it is not; the message says what to do.
    """
    if is_document(f"x{plain_suffix(name)}"):
        raise HeadwayError(f"{name}: is a compressed document: decompress it first")
    if _find_conversion(suffix := plain_suffix(name)):
        raise HeadwayError(f"{name}: {describe_unknown(suffix)}")


def describe_unknown(suffix: str) -> str:
    """Return a message for a file of an unknown kind: what to do with it, or which suffixes are known."""
    target = _find_conversion(suffix)
    advice = f"convert it to {target}" if target else f"use one of {', '.join(list_suffixes())}"
    return f"is no document that can be translated: {advice}"


def _find_conversion(suffix: str) -> str:
    """Return what a file of another kind is converted to, or an empty string."""
    found = (target for target, others in CONVERSIONS.items() if suffix.lower() in others.split())
    return next(found, "")


def open_document(data: bytes, name: str, options: DocumentOptions | None = None) -> Document:
    """Read a document.

    Args:
        data: The content of the file.
        name: The name of the file; its suffix says which kind it is.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the kind is unknown, the file is damaged, or has too much text; the message names the file.
    """
    suffix = PurePath(name).suffix.lower()
    try:
        if (found := collect("documents").get(suffix)) is None:
            raise HeadwayError(describe_unknown(suffix))
        # Only the code of this format is imported.
        document: Document = load(*found)(
            data, replace(options or DocumentOptions(), suffix=suffix)
        )
        _check_lengths([len(paragraph.text) for paragraph in document.paragraphs])
    except HeadwayError as error:
        raise HeadwayError(f"{name}: {error}") from None
    return document


def list_notices(document: Document) -> list[str]:
    """Return what a user should know about the texts of a document that stay, one line for each thing."""
    found: list[str] = getattr(document, "list_notices", list)()
    return found


def _check_lengths(lengths: Sequence[int]) -> None:
    """Check that the paragraphs of a document are short enough to be held in memory with their translations.

    Raises:
        HeadwayError: If a paragraph, or all of them, have too many characters.
    """
    longest, total = max(lengths, default=0), sum(lengths)
    if longest > LONGEST_PARAGRAPH:
        raise HeadwayError(
            f"has a paragraph of {longest:,} characters: divide it into paragraphs of at most {LONGEST_PARAGRAPH:,}"
        )
    if total > LARGEST:
        raise HeadwayError(
            f"has {total:,} characters of text: split it into files of at most {LARGEST:,}"
        )
