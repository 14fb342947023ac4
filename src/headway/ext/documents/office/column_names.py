"""Names of a spreadsheet's columns: the header of a table stands in a cell and in the table, and both must be equal."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headway.ext.documents.office.package import Package
from headway.ext.documents.office.run_paragraphs import read_cell
from headway.ext.documents.paragraph import Paragraph, Translated

# A name in a formula: `Sales[Price]`, `[@Price]`, `Sales[[#This Row],[Price]]`.
_IN_BRACKETS = re.compile(r"\[@?([^\[\]]+)\]")
# Marks of formulas in names, and characters that cells and tables write in different ways.
_HAS_SIGNS = re.compile(r"[\[\]#'@\t\r\n]|_x[0-9A-Fa-f]{4}_")
_BREAK = re.compile(r"[\t\r\n]")
# Ends of types of parts that use names of columns in ways of their own.
_OTHER_USES = ("queryTable+xml", "slicerCache+xml", "connections+xml", "vbaProject")
_FORMULAS = ("worksheet+xml", "table+xml", "main+xml")


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns of all tables.

    Attributes:
        fixed: Names that something else uses too, such as a formula or a pivot table; they stay, in tables and in cells.
        free: The others, which have one translation in all tables and cells.
    """

    fixed: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()

    def agree(
        self, paragraphs: Sequence[Paragraph[Any]], translations: Sequence[Translated]
    ) -> list[Translated]:
        """Return the translations with one for each name in tables and cells, and no two names equal.

        A program calls a file damaged in which a cell and its column differ, or two columns of a table are equal.

        Args:
            paragraphs: The texts of the spreadsheet.
            translations: One for each of them.
        """
        chosen: dict[str, Translated] = {}
        for paragraph, translated in zip(paragraphs, translations, strict=True):
            if paragraph.text in self.free:
                chosen.setdefault(paragraph.text, translated)
        stay = {name for name, translated in chosen.items() if translated.text == name}
        taken = {name.casefold(): 1 for name in self.fixed | stay}
        for name, translated in chosen.items():
            if name not in stay:
                text = _BREAK.sub(" ", translated.text) if translated.text.strip() else name
                chosen[name] = replace(translated, text=_make_unique(text, taken))
        both = zip(paragraphs, translations, strict=True)
        return [chosen.get(paragraph.text, translated) for paragraph, translated in both]


def find_column_names(package: Package, types: Mapping[str, str]) -> ColumnNames:
    """Return the names of the columns of a spreadsheet's tables and pivot tables.

    Args:
        package: The spreadsheet.
        types: The type of the content of each member.
    """
    parts = [(name, kind) for name, kind in types.items() if name in package]

    def read_names(end: str, element: str) -> set[str]:
        roots = (package.parse(name) for name, kind in parts if kind.endswith(end))
        return {node.get("name", "") for root in roots for node in root.iter(f"{{*}}{element}")}

    names = read_names("spreadsheetml.table+xml", "tableColumn")
    fixed = read_names("pivotCacheDefinition+xml", "cacheField")
    if any(kind.endswith(_OTHER_USES) for _, kind in parts):
        fixed |= names
    elif names:
        fixed.update(filter(_HAS_SIGNS.search, names))
        for name, kind in parts:
            if kind.endswith(_FORMULAS):
                source = html.unescape(package.read(name).decode("utf-8", "replace"))
                fixed |= names.intersection(_IN_BRACKETS.findall(source))
    return ColumnNames(frozenset(fixed) | {*map(read_cell, fixed)}, frozenset(names - fixed))


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
