"""Where a person finds the texts of an office file or a book: by slide, cell, chapter, or part."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from headway.ext.documents.office.package import Package
from headway.ext.documents.office.workbook import list_parts, read_cells
from headway.ext.documents.paragraph import Paragraph

_MAIN = ("document", "content", "presentation", "workbook")  # parts that are the file itself
_SLIDES, _WORKBOOK, _STRINGS = "ppt/presentation.xml", "xl/workbook.xml", "xl/sharedStrings.xml"
_WORDS = re.compile(r"[A-Z]?[a-z]+|\d+|[^\W\d_]+")


class _Part(Protocol):
    """A part of a package."""

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """Its texts, in their order."""


def name_office_places(package: Package, parts: Mapping[str, _Part]) -> None:
    """Say of each text of a package where it is.

    Args:
        package: The file.
        parts: Its parts with text, after their names.
    """
    slides = (name for name, _ in list_parts(package, _SLIDES, "sldId"))
    titles = {name: f"slide {number}" for number, name in enumerate(slides, 1)}
    sheets = {name: node.get("name", "") for name, node in list_parts(package, _WORKBOOK, "sheet")}
    cells = _find_cells(package, sheets) if _STRINGS in parts else {}
    for name, part in parts.items():
        title = (titles | sheets).get(name) or _describe(name)
        for number, paragraph in enumerate(part.paragraphs, 1):
            cell = cells.get(paragraph.text.strip(), "") if name == _STRINGS else ""
            paragraph.place = cell or ", ".join(filter(None, (title, f"paragraph {number}")))


def _describe(name: str) -> str:
    """Return what a part is called: ``word/footnotes.xml`` are footnotes, ``ppt/charts/chart2.xml`` is chart 2."""
    stem = posixpath.splitext(posixpath.basename(name))[0]
    return "" if stem in _MAIN else " ".join(_WORDS.findall(stem)).lower() or stem


def _find_cells(package: Package, sheets: Mapping[str, str]) -> dict[str, str]:
    """Return the first cell of each text, such as ``Sheet1!B7``; a workbook stores a text once for all its cells."""
    found: dict[str, str] = {}
    for cell, text in read_cells(package, sheets, _STRINGS):
        found.setdefault(text.strip(), cell)
    return found
