"""Electronic books (.epub): chapters in XHTML, a table of contents, and metadata."""

import codecs
import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from headway.errors import HeadwayError
from headway.ext.documents.html.document import read_html
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.directions import turn_book
from headway.ext.documents.office.document import Member, PackagedDocument
from headway.ext.documents.office.package import Package, name_member
from headway.ext.documents.office.xml_part import Grammar, XmlPart
from headway.ext.documents.office.xml_tree import check_declarations
from headway.ext.documents.paragraph import DocumentOptions

MOST_TAGS = 200_000  # of all chapters
_CONTAINER, _PROTECTION = "META-INF/container.xml", "META-INF/encryption.xml"
_BOOK = "application/oebps-package+xml"
_CHAPTER, _CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"
_GRAMMARS = {
    _CONTENTS: Grammar(
        plain=frozenset({"docTitle/text", "navLabel/text"}),
        languages={"ncx": "lang"},
    ),
    _BOOK: Grammar(
        plain=frozenset({"metadata/title", "metadata/description", "metadata/subject"}),
        languages={"package": "lang"},
        codes=frozenset({"metadata/language"}),
        turn=turn_book,
    ),
}


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
    parts: dict[str, Member] = {}
    for name, kind in _find_parts(package):
        if name in protected:
            raise HeadwayError("is protected: a book without such protection is needed")
        if kind == _CHAPTER:
            parts[name] = _read_chapter(package, name, options)
        else:
            parts[name] = XmlPart(package, name, _GRAMMARS[kind], language)
    return PackagedDocument(package, parts)


def _read_chapter(package: Package, name: str, options: DocumentOptions) -> Member:
    data = package.read(name)
    package.count_tags(name, data)
    with name_member(name):
        is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        try:
            data.decode("utf-16" if is_wide else "utf-8")
        except UnicodeDecodeError:
            raise HeadwayError("is not in UTF-8 or UTF-16") from None
        check_declarations(data)
        return read_html(data, options)


def _find_parts(package: Package) -> Iterator[tuple[str, str]]:
    """Yield the name and the kind of each part with text; what a book names and does not have is left out."""
    if _CONTAINER not in package:
        raise HeadwayError(f"is no electronic book: it has no member {_CONTAINER}")
    found: set[str] = set()
    for book in package.parse(_CONTAINER).iter("{*}rootfile"):
        name = book.get("full-path", "")
        if name not in package or name in found:
            continue
        found.add(name)
        yield name, _BOOK
        for item in package.parse(name).iter("{*}item"):
            kind, href = (item.get(each, "") for each in ("media-type", "href"))
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
    references = package.parse(_PROTECTION).iter("{*}CipherReference")
    return {unquote(reference.get("URI", "")) for reference in references}
