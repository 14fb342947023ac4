"""What a workbook (.xlsx) compares texts of its cells with, and the cells that stay for it."""

import posixpath
import re
from collections.abc import Iterator, Mapping

from headway.ext.documents.office.compared_texts import ComparedTexts
from headway.ext.documents.office.package import Package, name_member
from headway.ext.documents.office.run_paragraphs import read_cell
from headway.ext.documents.office.xml_tree import Node, find_attribute, iterate_xml, local_name
from headway.text import is_translatable

# Ends of types of parts in which something compares: formulas, lists, filters; names of columns; pivot tables.
_PARTS = ("worksheet+xml", "table+xml", "main+xml", "pivotCacheDefinition+xml")
# A worksheet without any of these compares nothing; to read it would take long.
_SIGNS = re.compile(
    rb"<(?:\w+:)?(?:f|formula1?|filter|customFilter|tableColumn|definedName|cacheField)\b"
)
# Ends of types of parts that use names of columns in ways of their own.
_OTHER_USES = ("queryTable+xml", "slicerCache+xml", "connections+xml", "vbaProject")
# Marks of formulas in names, and characters that cells and tables write in different ways.
_HAS_MARKS = re.compile(r"[\[\]#'@\t\r\n]|_x[0-9A-Fa-f]{4}_")
_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')


def find_compared_texts(package: Package, types: Mapping[str, str]) -> ComparedTexts:
    """Return the texts with which a workbook compares those of its cells.

    Args:
        package: The workbook.
        types: The type of the content of each member.
    """
    found = ComparedTexts()
    own = {name: kind for name, kind in types.items() if name in package}
    keeps_names = any(kind.endswith(_OTHER_USES) for kind in own.values())
    for name, kind in own.items():
        if kind.endswith(_PARTS) and _SIGNS.search(package.read(name)):
            with name_member(name):
                for node in _find_signs(package.read(name)):
                    _read_sign(node, found, keeps_names)
    return found


def _find_signs(data: bytes) -> Iterator[Node]:
    return iterate_xml(
        data, "f", "formula", "formula1", "formula2", "calculatedColumnFormula", "definedName",
        "filter", "customFilter", "tableColumn", "cacheField", "s", "row",
    )  # fmt: skip


def _read_sign(node: Node, found: ComparedTexts, keeps_names: bool) -> None:
    """Add what an element compares.

    Args:
        node: The element.
        found: Gets the texts.
        keeps_names: Whether the names of all columns stay.
    """
    name, source = local_name(node), node.text or ""
    if name in (
        "formula",
        "formula1",
        "formula2",
    ):  # of a format or a list, which compares whole texts
        found.add(choice for text in _QUOTED.findall(source) for choice in text.split(","))
        found.is_used = True
    if name in ("filter", "customFilter"):
        found.add([node.get("val", "")])
    elif name == "tableColumn":
        found.is_used = True
        own = node.get("name", "")
        if keeps_names or _HAS_MARKS.search(own):
            found.add([own, read_cell(own)])
    elif name in ("cacheField", "s"):
        found.add([node.get("name", ""), node.get("v", "")])
    elif name != "row":
        found.add_formula(source)


def list_kept_cells(
    package: Package, types: Mapping[str, str], compared: ComparedTexts
) -> list[str]:
    """Return the names of the cells with texts that stay because the workbook compares them, such as ``Sheet1!B7``."""
    if not compared.is_used:
        return []
    own = {name: kind for name, kind in types.items() if name in package}
    kept = {
        str(number)
        for part, kind in own.items()
        if kind.endswith("sharedStrings+xml")
        for number, node in enumerate(iterate_xml(package.read(part), "si"))
        if _stays(node, compared)
    }
    return [
        f"{title}!{cell.get('r', '?')}"
        for part, title in _find_sheets(package, own).items()
        for row in iterate_xml(package.read(part), "row")
        for cell in row
        if (cell.get("t") == "s" and cell.findtext("{*}v") in kept)
        or (cell.get("t") == "inlineStr" and _stays(cell, compared))
    ]


def _stays(node: Node, compared: ComparedTexts) -> bool:
    text = "".join(each.text or "" for each in node.iter("{*}t"))
    return compared.keeps(text) and is_translatable(text)


def _find_sheets(package: Package, types: Mapping[str, str]) -> dict[str, str]:
    """Return the titles of the sheets, by the names of their parts."""
    found = {
        name: posixpath.basename(name) for name in types if types[name].endswith("worksheet+xml")
    }
    main = next(name for name, kind in types.items() if kind.endswith(".main+xml"))
    folder, name = posixpath.split(main)
    relations = f"{folder}/_rels/{name}.rels"
    nodes = package.parse(relations).iter("{*}Relationship") if relations in package else ()
    parts = {node.get("Id", ""): node.get("Target", "") for node in nodes}
    for sheet in package.parse(main).iter("{*}sheet"):
        path = posixpath.join(f"/{folder}", parts.get(find_attribute(sheet, "id"), ""))
        part = posixpath.normpath(path).lstrip("/")
        if part in found:
            found[part] = sheet.get("name", "")
    return found
