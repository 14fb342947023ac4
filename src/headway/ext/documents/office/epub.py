"""Electronic books (.epub): chapters in XHTML, a table of contents, and metadata."""

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

from headway.errors import HeadwayError
from headway.ext.documents.html.document import HtmlDocument
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.directions import (
    AttributeDirection,
    Directed,
    Directions,
)
from headway.ext.documents.office.document import PackagedDocument
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.package import Package, name_member
from headway.ext.documents.office.xml_part import XmlPart
from headway.ext.documents.paragraph import Document, DocumentOptions
from headway.ext.documents.text_file import Edit
from headway.ext.documents.xml_tokens import XmlToken

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
        make_direction=lambda directions: _BookDirection(directions),
        may_have_type=True,
    ),
}
_DECLARATIONS = re.compile(r"<!DOCTYPE[^<>]*\[")


class _BookDirection(AttributeDirection):
    """Turns the order of the pages, which books name since version 3."""

    def __init__(self, directions: Directions) -> None:
        values = ("ltr", "default"), ("rtl",)
        self._spine = {"spine": [Directed("page-progression-direction", *values, is_added=True)]}
        super().__init__({}, directions)

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        if token.name == "package" and token.kind == "open":
            is_old = token.attributes.get("version", "").startswith(("1", "2"))
            self._attributes = {} if is_old else self._spine
        return super().feed(token)


def read_book(data: bytes, options: DocumentOptions) -> PackagedDocument:
    """Read an electronic book.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is damaged, protected, or too large.
    """
    package = Package(data, MOST_TAGS)
    language = LanguagePair(options.source, options.target)
    protected = _find_protected(package)
    parts: list[tuple[str, Document]] = []
    for name, kind in _find_parts(package):
        if name in protected:
            raise HeadwayError("is protected: a book without such protection is needed")
        if kind == _CHAPTER:
            parts.append((name, _read_chapter(package, name, options)))
        else:
            parts.append((name, XmlPart(package, name, _GRAMMARS[kind], language)))
    return PackagedDocument(package, parts)


def _read_chapter(package: Package, name: str, options: DocumentOptions) -> HtmlDocument:
    source = package.read_xml(name)
    with name_member(name):
        if _DECLARATIONS.search(source[:10_000]):
            raise HeadwayError("declares entities, which are not read")
        return HtmlDocument(package.read(name), options)


def _find_parts(package: Package) -> Iterator[tuple[str, str]]:
    """Yield the name and the kind of each part with text; what a book names and does not have is left out."""
    if _CONTAINER not in package:
        raise HeadwayError(f"is no electronic book: it has no member {_CONTAINER}")
    found: set[str] = set()
    for book in package.read_tags(_CONTAINER, "rootfile"):
        name = book.attributes.get("full-path", "")
        if name not in package or name in found:
            continue
        found.add(name)
        yield name, _BOOK
        for item in package.read_tags(name, "item"):
            kind, href = (item.attributes.get(each, "") for each in ("media-type", "href"))
            path = posixpath.join(posixpath.dirname(name), unquote(href))
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
    tags = package.read_tags(_PROTECTION, "CipherReference")
    return {unquote(tag.attributes.get("URI", "")) for tag in tags}
