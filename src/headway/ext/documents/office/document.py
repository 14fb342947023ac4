"""Office files: .docx, .pptx, .xlsx, .odt, .odp and .ods, their templates, and files with macros."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from headway.errors import HeadwayError
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.column_names import NO_NAMES, ColumnNames, find_column_names
from headway.ext.documents.office.directions import Directions
from headway.ext.documents.office.odf import find_odf_parts, find_pivot_fields
from headway.ext.documents.office.ooxml import (
    SHEET_DIRECTION,
    WORDLESS,
    find_ooxml_parts,
    read_types,
)
from headway.ext.documents.office.package import Package, find_encoding
from headway.ext.documents.office.xml_part import XmlPart
from headway.ext.documents.paragraph import Document, DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import apply_edits
from headway.ext.documents.xml_tokens import XmlToken

_ROWS = "sheetData"
_VIEW = re.compile(r"""<(?:\w+:)?sheetView\s(?:[^<>"']|"[^"]*"|'[^']*')*>""")


class SheetViews:
    """The head of a worksheet, which says how it is shown; its rows, which may be many, are not read.

    Args:
        package: The file.
        name: Of the worksheet.
        directions: See `Directions`.
    """

    paragraphs: Sequence[Paragraph[None]] = ()

    def __init__(self, package: Package, name: str, directions: Directions) -> None:
        self._package, self._name, self._directions = package, name, directions

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the worksheet, which begins at the side where its text does."""
        data = self._package.read(self._name)
        encoding, direction = find_encoding(data), SHEET_DIRECTION(self._directions)
        head, *rows = data.partition(_ROWS.encode(encoding.removesuffix("-sig")))
        source = head.decode(encoding, "surrogateescape")
        edits = []
        for found in _VIEW.finditer(source):
            token = XmlToken("empty", found.start(), found[0], "sheetView")
            if not found[0].endswith("/>"):
                token = token._replace(kind="open")
            edits += direction.feed(token)
        return b"".join([apply_edits(source, edits).encode(encoding, "surrogateescape"), *rows])


# Ends of types of files in a file, such as the numbers behind a chart, and the suffix of such files.
_INNER = {
    "officedocument.wordprocessingml.document": ".docx",
    "officedocument.presentationml.presentation": ".pptx",
    "officedocument.spreadsheetml.sheet": ".xlsx",
}


class PackagedDocument:
    """An office file or a book: a ZIP package with several documents in it.

    Args:
        package: The file.
        parts: The parts with text, after their names.
        names: Of a spreadsheet: the names of columns, which must be equal in tables and cells.
    """

    def __init__(
        self,
        package: Package,
        parts: Sequence[tuple[str, Document]],
        names: ColumnNames = NO_NAMES,
    ) -> None:
        self._package, self._names = package, names
        self._parts = [(name, part, part.paragraphs) for name, part in parts]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The texts of all parts, in the order of the parts."""
        return [paragraph for *_, paragraphs in self._parts for paragraph in paragraphs]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its texts replaced; parts without changes keep their packed bytes."""
        changes: dict[str, bytes] = {}
        are_names: list[bool] = []
        for name, part, paragraphs in self._parts:
            if isinstance(part, XmlPart):
                are_names += [self._names.is_name(name, start) for start in part.starts]
            else:
                are_names += [False] * len(paragraphs)
        translations = self._names.agree(self.paragraphs, translations, are_names)
        at = 0
        for name, part, paragraphs in self._parts:
            written = part.write(translations[at : at + len(paragraphs)])
            at += len(paragraphs)
            if written != self._package.read(name):
                changes[name] = written
        assert at == len(translations), "there is one translation for each paragraph"
        return self._package.write(changes)


def read_office_file(data: bytes, options: DocumentOptions, kind: str) -> PackagedDocument:
    """Read an office file.

    Args:
        data: The content of the file.
        options: What is known about the translation.
        kind: The suffix of such documents, without macros.

    Raises:
        HeadwayError: If the file is damaged, of another kind, or too large.
    """
    return _read_package(Package(data), options, kind)


def _read_package(
    package: Package, options: DocumentOptions, kind: str, *, is_inner: bool = False
) -> PackagedDocument:
    language = LanguagePair(options.source, options.target)
    if kind.startswith(".od"):
        grammars = [*find_odf_parts(package, kind)]
        fixed = find_pivot_fields(package, kind)
        parts = [
            (name, XmlPart(package, name, each, language, lambda text, _: text in fixed))
            for name, each in grammars
        ]
        return PackagedDocument(package, parts)
    names = find_column_names(package) if kind == ".xlsx" else NO_NAMES
    documents: list[tuple[str, Document]] = []
    for name, grammar in find_ooxml_parts(package, kind):
        if grammar is not WORDLESS:
            part = XmlPart(package, name, grammar, language, partial(names.keeps, name))
            documents.append((name, part))
        elif directions := language.directions:
            documents.append((name, SheetViews(package, name, directions)))
    if not is_inner:
        documents += _read_inner_files(package, options)
    return PackagedDocument(package, documents, names)


def _read_inner_files(
    package: Package, options: DocumentOptions
) -> Iterator[tuple[str, PackagedDocument]]:
    """Yield the office files in an office file that can be read, after their names; the others stay."""
    for name, content in read_types(package).items():
        kind = next((suffix for end, suffix in _INNER.items() if content.endswith(end)), "")
        if not kind or name not in package:
            continue
        with suppress(HeadwayError):
            yield name, _read_package(package.open(name), options, kind, is_inner=True)
