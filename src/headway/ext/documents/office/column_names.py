"""Names of a spreadsheet's columns: the header of a table stands in a cell and in the table, and both must be equal."""

import html
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from headway.ext.documents.office.dialects import read_cell
from headway.ext.documents.office.header_cells import find_header_texts
from headway.ext.documents.office.ooxml import read_types
from headway.ext.documents.office.package import Package
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.text import Span

# A name in a formula: `Sales[Price]`, `[@Price]`, `Sales[[#This Row],[Price]]`.
_IN_BRACKETS = re.compile(r"\[@?([^\[\]]+)\]")
# Marks of formulas in names, and characters that cells and tables write in different ways.
_HAS_SIGNS = re.compile(r"[\[\]#'@\t\r\n]|_x[0-9A-Fa-f]{4}_")
_BREAK = re.compile(r"[\t\r\n]")
# Ends of types of parts that use names of columns in ways of their own.
_OTHER_USES = ("queryTable+xml", "slicerCache+xml", "connections+xml", "vbaProject")
_STRINGS = "spreadsheetml.sharedStrings+xml"
_FORMULAS = ("worksheet+xml", "table+xml", "main+xml")


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns of all tables, and where they stand.

    Attributes:
        fields: Headers that pivot tables name; they stay in all cells.
        fixed: Names that something else uses too, such as a formula; they stay in the headers of tables.
        free: The others, which are translated in tables and their headers.
        tables: The names of the parts with tables.
        headers: Where the texts of header cells stand in the other parts; None: any equal text may be one.
    """

    fields: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    headers: Mapping[str, Sequence[Span]] | None = None

    def is_name(self, part: str, start: int) -> bool:
        """Return whether a text is the name of a column or stands in a header cell, by its part and its place there."""
        if part in self.tables or self.headers is None:
            return True
        spans = self.headers.get(part, ())
        number = bisect_right(spans, start, key=itemgetter(0)) - 1
        return number >= 0 and start < spans[number][1]

    def keeps(self, part: str, text: str, start: int) -> bool:
        """Return whether a text stays; see `is_name`."""
        return text in self.fields or (text in self.fixed and self.is_name(part, start))

    def agree(
        self,
        paragraphs: Sequence[Paragraph[Any]],
        translations: Sequence[Translated],
        are_names: Sequence[bool],
    ) -> list[Translated]:
        """Return the translations with one for each name in a table and its header, and no two names equal.

        A program calls a file damaged in which a cell and its column differ, or two columns of a table are equal.

        Args:
            paragraphs: The texts of the spreadsheet.
            translations: One for each of them.
            are_names: For each of them, whether it is a column's name or a header; see `is_name`.
        """
        chosen: dict[str, Translated] = {}
        for paragraph, translated, is_name in zip(paragraphs, translations, are_names, strict=True):
            if is_name and paragraph.text in self.free:
                chosen.setdefault(paragraph.text, translated)
        taken = {name.casefold(): 1 for name in self.fixed}
        taken |= {
            name.casefold(): 1 for name, translated in chosen.items() if translated.text == name
        }
        for name, translated in chosen.items():
            if translated.text != name:
                text = _BREAK.sub(" ", translated.text) if translated.text.strip() else name
                chosen[name] = replace(translated, text=_make_unique(text, taken))
        return [
            chosen.get(paragraph.text, translated) if is_name else translated
            for paragraph, translated, is_name in zip(
                paragraphs, translations, are_names, strict=True
            )
        ]


NO_NAMES = ColumnNames(headers={})


def find_column_names(package: Package) -> ColumnNames:
    """Return the names of the columns of a spreadsheet's tables and pivot tables."""
    types = {name: kind for name, kind in read_types(package).items() if name in package}
    tables = [part for part, kind in types.items() if kind.endswith("spreadsheetml.table+xml")]
    names = {name for part in tables for name in _read_names(package, part, "tableColumn")}
    fields: set[str] = set()
    fixed: set[str] = set()
    for part, kind in types.items():
        if kind.endswith("pivotCacheDefinition+xml"):
            fields.update(_read_names(package, part, "cacheField"))
    if any(kind.endswith(_OTHER_USES) for kind in types.values()):
        fixed |= names
    elif names:
        fixed.update(name for name in names if _HAS_SIGNS.search(name))
        for part, kind in types.items():
            if kind.endswith(_FORMULAS):
                found = _IN_BRACKETS.findall(html.unescape(package.read_xml(part)))
                fixed |= names.intersection(found)
    sheets = [part for part, kind in types.items() if kind.endswith("worksheet+xml")]
    strings = next((part for part, kind in types.items() if kind.endswith(_STRINGS)), "")
    return ColumnNames(
        frozenset(fields) | {*map(read_cell, fields)},
        frozenset(fixed) | {*map(read_cell, fixed)},
        frozenset(names - fixed - fields),
        frozenset(tables),
        find_header_texts(package, tables, sheets, strings) if names else {},
    )


def _read_names(package: Package, part: str, element: str) -> list[str]:
    return [tag.attributes.get("name", "") for tag in package.read_tags(part, element)]


def _make_unique(text: str, taken: dict[str, int]) -> str:
    """Return a text, with a number behind it if it is taken.

    Args:
        text: A name.
        taken: The names that are taken, without case, and the last number behind each; the new one is added.
    """
    name, key = text, text.casefold()
    while name.casefold() in taken:
        taken[key] += 1
        name = f"{text} {taken[key]}"
    taken[name.casefold()] = 1
    return name
