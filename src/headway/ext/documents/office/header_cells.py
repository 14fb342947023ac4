"""Cells with the names of a table's columns: where their texts stand, apart from other cells with the same texts."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from headway.ext.documents.office.package import Package, find_encoding
from headway.ext.documents.text_file import Edit, apply_edits
from headway.text import Span

# An element without an end is read only until the next one begins, so that no file takes long.
_CELL = re.compile(
    r"<((?:\w+:)?)c\s([^<>]*[^<>/])>\s*+(?:<\1v>\s*+(?P<number>[0-9]++)\s*+</\1v>)?+(?:(?!<(?:\w+:)?c\s).)*?</\1c>",
    re.DOTALL,
)
_PLACE = re.compile(r"""(?<![^\s])r=["']([A-Z]{1,3})([0-9]+)["']""")
_TYPE = re.compile(r"""(?<![^\s])t=["'](s|str|inlineStr)["']""")
_STRING = re.compile(r"<((?:\w+:)?)si\b(?:[^<>]*/>|(?:(?!<(?:\w+:)?si\b).)*?</\1si>)", re.DOTALL)
_RANGE = re.compile(r"([A-Z]{1,3})([0-9]+):([A-Z]{1,3})[0-9]+")
_COUNT = re.compile(r"""(?<=\suniqueCount=["'])[0-9]+""")


class _NameRow(NamedTuple):
    """The first row of a table: its number, its first and its last column, and how many columns have names."""

    row: str
    first: str
    last: str
    names: int

    def holds(self, column: str, row: str) -> bool:
        """Return whether a cell is in the row."""
        first, own, last = ((len(name), name) for name in (self.first, column, self.last))
        return row == self.row and first <= own <= last


class _TextCell(NamedTuple):
    """A cell with text: where it stands, the place and the number of its shared string, and whether it is a header."""

    start: int
    end: int
    place: Span | None
    number: int
    is_header: bool


def find_header_texts(
    package: Package, tables: Collection[str], sheets: Sequence[str], strings: str
) -> dict[str, list[Span]] | None:
    """Return where the texts of header cells stand in the parts of a spreadsheet; None if cells are not found.

    A string that a header shares with other cells becomes two strings.

    Args:
        package: The spreadsheet.
        tables: Names of the parts with tables.
        sheets: Names of the worksheets.
        strings: Name of the part with shared strings; "" if there is none.
    """
    headers = _find_headers(package, tables)
    if headers is None:
        return None
    cells = {sheet: [*_read_cells(package, sheet, headers)] for sheet in sheets}
    found = sum(cell.is_header for some in cells.values() for cell in some)
    if found < sum(header.names for some in headers.values() for header in some):
        return None
    others = {
        cell.number for some in cells.values() for cell in some if cell.place and not cell.is_header
    }
    if strings:
        _divide_strings(package, cells, others, strings)
    texts = {
        sheet: [cell[:2] for cell in _read_cells(package, sheet, headers) if cell.is_header]
        for sheet in headers
    }
    if strings:
        source = package.read_xml(strings)
        texts[strings] = [
            string.span()
            for number, string in enumerate(_STRING.finditer(source))
            if number not in others
        ]
    return texts


def _find_headers(package: Package, tables: Collection[str]) -> dict[str, list[_NameRow]] | None:
    """Return the headers of the tables on each worksheet; None if one is not known."""
    headers: dict[str, list[_NameRow]] = {}
    left = set(tables)
    for name in package.names:
        folder, _, file = name.rpartition("/_rels/")
        sheet = f"{folder}/{file.removesuffix('.rels')}"
        if not file.endswith(".rels") or sheet not in package:
            continue
        for relation in package.read_tags(name, "Relationship"):
            path = posixpath.join(f"/{folder}", relation.attributes.get("Target", ""))
            part = posixpath.normpath(path).lstrip("/")
            if part not in left:
                continue
            left.discard(part)
            [*found] = package.read_tags(part, "table", "tableColumn")
            attributes = found[0].attributes if found else {}
            place = _RANGE.fullmatch(attributes.get("ref", ""))
            if place is None:
                return None
            if attributes.get("headerRowCount") != "0":
                header = _NameRow(place[2], place[1], place[3], len(found) - 1)
                headers.setdefault(sheet, []).append(header)
    return None if left else headers


def _read_cells(
    package: Package, sheet: str, headers: Mapping[str, Sequence[_NameRow]]
) -> Iterator[_TextCell]:
    """Yield the cells of a worksheet that have text."""
    own = headers.get(sheet, ())
    for found in _CELL.finditer(package.read_xml(sheet)):
        kind, place = _TYPE.search(found[2]), _PLACE.search(found[2])
        if kind is None:
            continue
        is_header = place is not None and any(each.holds(*place.groups()) for each in own)
        is_shared = kind[1] == "s" and found["number"] is not None
        number = int(found["number"]) if is_shared else 0
        yield _TextCell(
            *found.span(), found.span("number") if is_shared else None, number, is_header
        )


def _divide_strings(
    package: Package,
    cells: Mapping[str, Sequence[_TextCell]],
    others: Collection[int],
    strings: str,
) -> None:
    """Give headers strings of their own where other cells show the same ones."""
    source = package.read_xml(strings)
    known = [string[0] for string in _STRING.finditer(source)]
    copies: dict[int, int] = {}
    for sheet, some in cells.items():
        edits = []
        for cell in some:
            if cell.is_header and cell.place and cell.number in others and cell.number < len(known):
                number = copies.setdefault(cell.number, len(known) + len(copies))
                edits.append(Edit(*cell.place, str(number)))
        if edits:
            _replace(package, sheet, apply_edits(package.read_xml(sheet), edits))
    if copies:
        end = source.rindex("</")
        added = "".join(known[number] for number in copies)
        written = f"{source[:end]}{added}{source[end:]}"
        count = str(len(known) + len(copies))
        _replace(package, strings, _COUNT.sub(count, written, count=1))


def _replace(package: Package, name: str, source: str) -> None:
    package.replace(name, source.encode(find_encoding(package.read(name))))
