"""Names of a spreadsheet's columns: the header of a table stands in a cell and in the table, and both must be equal."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from headway.documents.office.dialects import read_cell
from headway.documents.office.ooxml import read_types
from headway.documents.office.package import Package
from headway.documents.paragraph import Paragraph, Translated

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
        fixed: Those that something else uses too, such as a formula; they stay in cells and tables.
        free: The others, which are translated in both.
    """

    fixed: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()

    def agree(
        self, paragraphs: Sequence[Paragraph[Any]], translations: Sequence[Translated]
    ) -> list[Translated]:
        """Return the translations with one for each name, wherever it stands, and no two names equal.

        A program calls a file damaged in which a cell and its column differ, or two columns of a table are equal.

        Args:
            paragraphs: The texts of the spreadsheet.
            translations: One for each of them.
        """
        chosen: dict[str, Translated] = {}
        for paragraph, translated in zip(paragraphs, translations, strict=True):
            if paragraph.text in self.free:
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
            chosen.get(paragraph.text, translated)
            for paragraph, translated in zip(paragraphs, translations, strict=True)
        ]


NO_NAMES = ColumnNames()


def find_column_names(package: Package) -> ColumnNames:
    """Return the names of the columns of a spreadsheet's tables and pivot tables."""
    types = {name: kind for name, kind in read_types(package).items() if name in package}
    names: set[str] = set()
    fixed: set[str] = set()
    for part, kind in types.items():
        if kind.endswith("spreadsheetml.table+xml"):
            names.update(_read_names(package, part, "tableColumn"))
        elif kind.endswith("pivotCacheDefinition+xml"):
            fixed.update(_read_names(package, part, "cacheField"))
    if any(kind.endswith(_OTHER_USES) for kind in types.values()):
        fixed |= names
    elif names:
        fixed.update(name for name in names if _HAS_SIGNS.search(name))
        for part, kind in types.items():
            if kind.endswith(_FORMULAS):
                found = _IN_BRACKETS.findall(html.unescape(package.read_xml(part)))
                fixed |= names.intersection(found)
    return ColumnNames(frozenset(fixed) | {*map(read_cell, fixed)}, frozenset(names - fixed))


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
