"""Office files: .docx, .pptx, .xlsx, .odt, .odp and .ods, their templates, and files with macros."""

import posixpath
import re
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import islice
from typing import Protocol

from headway.errors import HeadwayError
from headway.ext.documents import OFFICE
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.directions import turn_sheet
from headway.ext.documents.office.odf import (
    CONTENT,
    find_odf_parts,
    read_comparisons,
    read_odf_cells,
)
from headway.ext.documents.office.ooxml import WORDLESS, find_ooxml_parts, read_types
from headway.ext.documents.office.package import Package, write_content
from headway.ext.documents.office.workbook import (
    ComparedTexts,
    find_compared_texts,
    list_parts,
    read_cells,
)
from headway.ext.documents.office.xml_part import XmlPart
from headway.ext.documents.office.xml_tree import Node
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.text import is_translatable

_MAIN = ("document", "content", "presentation", "workbook")  # parts that are the file itself
_PROPERTIES = ("core", "meta")
_SLIDES, _WORKBOOK = "ppt/presentation.xml", "xl/workbook.xml"
_WORDS = re.compile(r"[A-Z]?[a-z]+|\d+|[^\W\d_]+")


class Member(Protocol):
    """A document in a package."""

    @property
    def paragraphs(self) -> Sequence[Paragraph]:
        """Its texts, in their order."""

    def write(self, translations: Sequence[Translated]) -> bytes | Node | None:
        """Return it with its texts replaced: bytes, or the root of a tree; None: nothing changes."""


def _describe(name: str) -> str:
    """Return what a part is called: ``word/footnotes.xml`` are footnotes, ``ppt/charts/chart2.xml`` is chart 2."""
    stem = posixpath.splitext(posixpath.basename(name))[0]
    if stem in _PROPERTIES:
        return "properties"
    return "" if stem in _MAIN else " ".join(_WORDS.findall(stem)).lower() or stem


# Ends of types of files in a file, such as the numbers behind a chart, and the suffix of such files.
_INNER = {
    "officedocument.wordprocessingml.document": ".docx",
    "officedocument.presentationml.presentation": ".pptx",
    "officedocument.spreadsheetml.sheet": ".xlsx",
}


# Ends of the types of parts with cells, or with the names of their columns.
_STRINGS = (
    "sharedStrings.xml"  # the end of the name of the part with texts that several cells may have
)
_CELLS = ("sharedStrings+xml", "worksheet+xml", "spreadsheetml.table+xml")
_MOST_SHOWN = 5  # cells in a message


class PackagedDocument:
    """An office file or a book: a ZIP package with several documents in it.

    Args:
        package: The file.
        parts: The parts with text, after their names.
        compared: Of a spreadsheet: texts that stay.
        cells: The names of the parts whose texts agree with each other; see `ComparedTexts.agree`.
        is_rtl: Whether a spreadsheet becomes one from right to left, or from left to right; None: it stays.
        sheets: The names of its worksheets.
        read_cells: Of a spreadsheet: yields the part, the name and the text of each cell with text.
    """

    def __init__(
        self,
        package: Package,
        parts: Mapping[str, Member],
        compared: ComparedTexts | None = None,
        cells: Collection[str] = (),
        is_rtl: bool | None = None,
        sheets: Sequence[str] = (),
        read_cells: Callable[[], Iterable[tuple[str, str, str]]] = tuple,
    ) -> None:
        self._package, self._parts, self._read_cells = package, parts, read_cells
        self._compared, self._cells = compared or ComparedTexts(), cells
        self._is_rtl, self._sheets = is_rtl, sheets

    @property
    def paragraphs(self) -> Sequence[Paragraph]:
        """The texts of all parts, in the order of the parts."""
        return [paragraph for part in self._parts.values() for paragraph in part.paragraphs]

    def list_notices(self) -> list[str]:
        """Return what a user should know about texts that stay, one line for each thing."""
        cells = self._read_cells() if self._compared.is_used else ()
        kept = (
            cell for _, cell, text in cells if self._compared.keeps(text) and is_translatable(text)
        )
        found = [*dict.fromkeys(kept)]
        shown = ", ".join([*found[:_MOST_SHOWN], *["..."] * (len(found) > _MOST_SHOWN)])
        said = f"cells that stay, because the file compares their texts: {len(found)} ({shown})"
        return [said] * bool(found)

    def name_places(self) -> None:
        """Say of each text where it is; see `headway.ext.documents.quality_table.name_places`."""
        slides = (name for name, _ in list_parts(self._package, _SLIDES, "sldId"))
        titles = {name: f"slide {number}" for number, name in enumerate(slides, 1)}
        sheets = list_parts(self._package, _WORKBOOK, "sheet")
        titles |= {name: node.get("name", "") for name, node in sheets}
        # Of each text of a part its cells; of a shared string only the first one.
        cells = defaultdict[tuple[str, str], deque[str]](deque)
        for member, cell, text in self._read_cells():
            found = cells[member, " ".join(text.split())]
            if not found or not member.endswith(_STRINGS):
                found.append(cell)
        for name, part in self._parts.items():
            title = titles.get(name) or _describe(name)
            for number, paragraph in enumerate(part.paragraphs, 1):
                found = cells.get((name, " ".join(paragraph.text.split())), deque([""]))
                cell = found.popleft() if len(found) > 1 else found[0]
                paragraph.place = cell or ", ".join(filter(None, (title, f"paragraph {number}")))

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its texts replaced; parts without changes keep their packed bytes."""
        left = iter(translations)
        found = {name: [*islice(left, len(part.paragraphs))] for name, part in self._parts.items()}
        cells = [name for name in found if name in self._cells]
        texts = [paragraph for name in cells for paragraph in self._parts[name].paragraphs]
        agreed = iter(self._compared.agree(texts, [each for name in cells for each in found[name]]))
        found |= {name: [*islice(agreed, len(found[name]))] for name in cells}
        changes: dict[str, bytes | Node] = {}
        for name, part in self._parts.items():
            written = part.write(found[name])
            is_same = isinstance(written, bytes) and written == self._package.read(name)
            if written is not None and not is_same:
                changes[name] = written
        for name in self._sheets if self._is_rtl is not None else ():
            own = BytesIO()
            write_content(changes.get(name, self._package.read(name)), own)
            if (turned := turn_sheet(own.getvalue(), bool(self._is_rtl))) != own.getvalue():
                changes[name] = turned
        return self._package.write(changes)


def read_office(data: bytes, options: DocumentOptions) -> PackagedDocument:
    """Read an office file; those with macros, templates and slide shows are like others of their program.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is damaged, of another kind, or too large.
    """
    kind = next(kind for kind, suffixes in OFFICE.items() if options.suffix in suffixes)
    return _read_package(Package(data), options, kind)


def _read_package(
    package: Package, options: DocumentOptions, kind: str, *, is_inner: bool = False
) -> PackagedDocument:
    language = LanguagePair(options.source, options.target)
    types: Mapping[str, str] = {}
    sheets: list[str] = []
    if kind.startswith(".od"):
        grammars, cells = dict(find_odf_parts(package, kind)), [CONTENT]
        is_sheet = kind == ".ods"
        compared = read_comparisons(package.parse(CONTENT)) if is_sheet else ComparedTexts()
        texts = partial(read_odf_cells, package) if is_sheet else tuple
    else:
        types = read_types(package)
        grammars = dict(find_ooxml_parts(package, kind, types))
        cells = [name for name in package.names if types[name].endswith(_CELLS)]
        sheets = [name for name in cells if types[name].endswith("worksheet+xml")]
        compared = find_compared_texts(package, types) if kind == ".xlsx" else ComparedTexts()
        texts = partial(read_cells, package, types) if kind == ".xlsx" else tuple
    parts: dict[str, Member] = {
        name: XmlPart(package, name, grammar, language, compared.keeps)
        for name, grammar in grammars.items()
        if grammar is not WORDLESS
    }
    if not is_inner:
        parts |= _read_inner_files(package, options, types)
    return PackagedDocument(package, parts, compared, cells, language.becomes_rtl, sheets, texts)


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
