"""Where a person finds the texts of an office file or a book: by slide, cell, chapter, or part."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from headway.ext.documents.office.package import Package
from headway.ext.documents.office.xml_tree import Node
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
    slides = (name for name, _ in _list_parts(package, _SLIDES, "sldId"))
    titles = {name: f"slide {number}" for number, name in enumerate(slides, 1)}
    sheets = {name: node.get("name", "") for name, node in _list_parts(package, _WORKBOOK, "sheet")}
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


def _list_parts(package: Package, main: str, element: str) -> Iterator[tuple[str, Node]]:
    """Yield the parts that a list of the main part names, such as slides, in its order, with what names them."""
    folder, name = posixpath.split(main)
    relations = f"{folder}/_rels/{name}.rels"
    if main not in package or relations not in package:
        return
    nodes = package.parse(relations).iter("{*}Relationship")
    targets = {node.get("Id", ""): node.get("Target", "") for node in nodes}
    for node in package.parse(main).iter(f"{{*}}{element}"):
        keys = (value for key, value in node.attrib.items() if key.endswith("}id"))
        target = targets.get(next(keys, ""), "")
        yield posixpath.normpath(posixpath.join(f"/{folder}", target)).lstrip("/"), node


def _find_cells(package: Package, sheets: Mapping[str, str]) -> dict[str, str]:
    """Return the first cell of each text that a workbook stores once for all cells, such as ``Sheet1!B7``."""
    texts = [
        "".join(each.text or "" for each in node.iter("{*}t") if not _is_reading(each)).strip()
        for node in package.parse(_STRINGS).iter("{*}si")
    ]
    found: dict[str, str] = {}
    for part, title in sheets.items():
        for cell in package.parse(part).iter("{*}c") if part in package else ():
            number = cell.findtext("{*}v") or ""
            if cell.get("t") == "s" and number.isdecimal() and int(number) < len(texts):
                found.setdefault(texts[int(number)], f"{title}!{cell.get('r', '?')}")
    return found


def _is_reading(text: Node) -> bool:
    """Return whether a text says how the one beside it is pronounced."""
    parent = text.getparent()
    return parent is not None and str(parent.tag).endswith("}rPh")
