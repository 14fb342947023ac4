"""Office files: .docx, .pptx, .xlsx, .odt, .odp and .ods, their templates, and files with macros."""

from collections.abc import Sequence
from typing import Any

from headway.documents.office.languages import Language
from headway.documents.office.odf import find_odf_parts
from headway.documents.office.ooxml import find_fixed_texts, find_ooxml_parts
from headway.documents.office.package import Package
from headway.documents.office.xml_part import XmlPart
from headway.documents.paragraph import Document, DocumentOptions, Paragraph, Translated


class PackagedDocument:
    """An office file or a book: a ZIP package with several documents in it.

    Args:
        package: The file.
        parts: The parts with text, after their names.
    """

    def __init__(self, package: Package, parts: Sequence[tuple[str, Document]]) -> None:
        self._package = package
        self._parts = [(name, part, part.paragraphs) for name, part in parts]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The texts of all parts, in the order of the parts."""
        return [paragraph for *_, paragraphs in self._parts for paragraph in paragraphs]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its texts replaced; parts without changes keep their packed bytes."""
        changes: dict[str, bytes] = {}
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
    package = Package(data)
    language = Language(options.source, options.target)
    find = find_odf_parts if kind.startswith(".od") else find_ooxml_parts
    fixed = find_fixed_texts(package) if kind == ".xlsx" else frozenset()
    parts = [
        (name, XmlPart(package, name, grammar, language, fixed))
        for name, grammar in find(package, kind)
    ]
    return PackagedDocument(package, parts)
