"""Electronic books (.epub): chapters in XHTML, a table of contents, and metadata."""

import posixpath
import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import unquote

from headway.documents.html.document import HtmlDocument
from headway.documents.office.document import PackagedDocument
from headway.documents.office.languages import Language
from headway.documents.office.package import Package
from headway.documents.office.xml_part import Grammar, XmlPart, decode_part
from headway.documents.paragraph import Document, DocumentOptions
from headway.documents.text_file import check_count
from headway.documents.xml_tokens import iterate_xml
from headway.errors import HeadwayError

MOST_TAGS = 200_000  # of all chapters
_CONTAINER, _PROTECTION = "META-INF/container.xml", "META-INF/encryption.xml"
_BOOK = "application/oebps-package+xml"
_CHAPTER, _CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"
_GRAMMARS = {
    _CONTENTS: Grammar(
        plain=frozenset({"docTitle/text", "navLabel/text"}),
        languages={"ncx": "xml:lang"},
        may_have_type=True,
    ),
    _BOOK: Grammar(
        plain=frozenset({"metadata/title", "metadata/description", "metadata/subject"}),
        languages={"package": "xml:lang"},
        codes=frozenset({"metadata/language"}),
        may_have_type=True,
    ),
}
_DECLARATIONS = re.compile(rb"<!DOCTYPE[^<>]*\[")


def read_book(data: bytes, options: DocumentOptions) -> PackagedDocument:
    """Read an electronic book.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is damaged, protected, or too large.
    """
    package = Package(data)
    language = Language(options.source, options.target)
    protected = _find_protected(package)
    parts: list[tuple[str, Document]] = []
    count = 0
    for name, kind in _find_parts(package):
        if name in protected:
            raise HeadwayError("is protected: a book without such protection is needed")
        read = partial(package.read, name)
        count += read().count(b"<")
        check_count(count, "tags", MOST_TAGS)
        try:
            if kind == _CHAPTER:
                parts.append((name, _read_chapter(read(), options)))
            else:
                parts.append((name, XmlPart(read, _GRAMMARS[kind], language)))
        except HeadwayError as error:
            raise HeadwayError(f"is damaged: {name[:80]!r} in it {error}") from None
    return PackagedDocument(package, parts)


def _read_chapter(data: bytes, options: DocumentOptions) -> HtmlDocument:
    if _DECLARATIONS.search(data[:10_000]):
        raise HeadwayError("declares entities, which are not read")
    return HtmlDocument(data, options)


def _find_parts(package: Package) -> Iterator[tuple[str, str]]:
    """Yield the name and the kind of each part with text; what a book names and does not have is left out."""
    if _CONTAINER not in package:
        raise HeadwayError(f"is no electronic book: it has no member {_CONTAINER}")
    found: set[str] = set()
    for book in _read_tags(package, _CONTAINER, "rootfile"):
        name = book.get("full-path", "")
        if name not in package or name in found:
            continue
        found.add(name)
        yield name, _BOOK
        for item in _read_tags(package, name, "item"):
            kind = item.get("media-type", "")
            path = posixpath.join(posixpath.dirname(name), unquote(item.get("href", "")))
            part = posixpath.normpath(path)
            if kind in (_CHAPTER, _CONTENTS) and part in package and part not in found:
                found.add(part)
                yield part, kind
    if not found:
        raise HeadwayError("is damaged: it lacks the description of the book")


def _find_protected(package: Package) -> set[str]:
    """Return the names of the members that only one program or reader can read."""
    if _PROTECTION not in package:
        return set()
    return {unquote(tag.get("URI", "")) for tag in _read_tags(package, _PROTECTION, "CipherReference")}  # fmt: skip


def _read_tags(package: Package, name: str, element: str) -> list[dict[str, str]]:
    """Return the attributes of all elements of one name in a part."""
    try:
        tokens = iterate_xml(decode_part(package.read(name)))
        return [token.attributes for token in tokens if token.name == element and token.kind in ("open", "empty")]  # fmt: skip
    except HeadwayError as error:
        raise HeadwayError(f"is damaged: {name[:80]!r} in it {error}") from None
