"""Office files: .docx, .pptx, .xlsx, .odt, .odp and .ods, their templates, and files with macros."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol

from headway.errors import HeadwayError
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.column_names import ColumnNames, find_column_names
from headway.ext.documents.office.directions import Directions, turn_sheet
from headway.ext.documents.office.odf import find_odf_parts, find_pivot_fields
from headway.ext.documents.office.ooxml import WORDLESS, find_ooxml_parts, read_types
from headway.ext.documents.office.package import Package
from headway.ext.documents.office.xml_part import XmlPart
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated

# Ends of types of files in a file, such as the numbers behind a chart, and the suffix of such files.
_INNER = {
    "officedocument.wordprocessingml.document": ".docx",
    "officedocument.presentationml.presentation": ".pptx",
    "officedocument.spreadsheetml.sheet": ".xlsx",
}


class Member(Protocol):
    """A document in a package."""

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """Its texts, in their order."""

    def write(self, translations: Sequence[Translated]) -> bytes | None:
        """Return it with its texts replaced; None: nothing changes."""


class PackagedDocument:
    """An office file or a book: a ZIP package with several documents in it.

    Args:
        package: The file.
        parts: The parts with text, after their names.
        names: Of a spreadsheet: the names of columns, which must be equal in tables and cells.
        sheets: The names of the worksheets of a spreadsheet that is turned.
        directions: See `turn_sheet`.
    """

    def __init__(
        self,
        package: Package,
        parts: Mapping[str, Member],
        names: ColumnNames | None = None,
        sheets: Sequence[str] = (),
        directions: Directions = ("ltr", "ltr"),
    ) -> None:
        self._package, self._names, self._parts = package, names or ColumnNames(), parts
        self._sheets, self._directions = sheets, directions

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The texts of all parts, in the order of the parts."""
        return [paragraph for part in self._parts.values() for paragraph in part.paragraphs]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its texts replaced; parts without changes keep their packed bytes."""
        left = iter(self._names.agree(self.paragraphs, translations))
        changes: dict[str, bytes] = {}
        for name, part in self._parts.items():
            written = part.write([*islice(left, len(part.paragraphs))])
            if written is not None and written != self._package.read(name):
                changes[name] = written
        for name in self._sheets:
            own = changes.get(name) or self._package.read(name)
            if (turned := turn_sheet(own, self._directions)) != own:
                changes[name] = turned
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
        found = [*find_odf_parts(package, kind)]
        fields = find_pivot_fields(package)
        return PackagedDocument(
            package,
            {name: XmlPart(package, name, grammar, language, fields) for name, grammar in found},
        )
    types = read_types(package)
    grammars = dict(find_ooxml_parts(package, kind, types))
    names = find_column_names(package, types) if kind == ".xlsx" else ColumnNames()
    parts: dict[str, Member] = {
        name: XmlPart(package, name, grammar, language, names.fixed)
        for name, grammar in grammars.items()
        if grammar is not WORDLESS
    }
    if not is_inner:
        parts |= _read_inner_files(package, options, types)
    sheets = [
        name for name, each in types.items() if each.endswith("worksheet+xml") and name in package
    ]
    return PackagedDocument(
        package,
        parts,
        names,
        sheets if language.directions else (),
        language.directions or ("ltr", "ltr"),
    )


def _read_inner_files(
    package: Package, options: DocumentOptions, types: Mapping[str, str]
) -> Iterator[tuple[str, PackagedDocument]]:
    """Yield the office files in an office file that can be read, after their names; the others stay."""
    for name, content in types.items():
        kind = next((suffix for end, suffix in _INNER.items() if content.endswith(end)), "")
        if not kind or name not in package:
            continue
        with suppress(HeadwayError):
            yield name, _read_package(package.open(name), options, kind, is_inner=True)
