"""Documents by the suffixes of their names."""

from pathlib import PurePath

from headway.documents.paragraph import Document, DocumentOptions
from headway.errors import HeadwayError

SUFFIXES = (".htm", ".html")  # of the files that `open_document` reads


def is_document(name: str) -> bool:
    """Return whether a file of this name is a document; other files are lines of text."""
    return PurePath(name).suffix.lower() in SUFFIXES


def open_document(data: bytes, name: str, options: DocumentOptions | None = None) -> Document:
    """Read a document.

    Args:
        data: The content of the file.
        name: The name of the file; its suffix says which kind it is.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the kind is unknown, or the file is damaged; the message names the file.
    """
    try:
        return _read(data, PurePath(name).suffix.lower(), options or DocumentOptions())
    except HeadwayError as error:
        raise HeadwayError(f"{name}: {error}") from None


def _read(data: bytes, suffix: str, options: DocumentOptions) -> Document:
    match suffix:
        case ".htm" | ".html":
            from headway.documents.html.document import HtmlDocument

            return HtmlDocument(data, options)
    raise HeadwayError(f"is no document that can be translated: use one of {', '.join(SUFFIXES)}")
