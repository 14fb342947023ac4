"""What a workbook (.xlsx) compares texts of its cells with, and the cells that stay for it."""

import posixpath
import re
from collections.abc import Iterator, Mapping

from headway.ext.documents.office.compared_texts import ComparedTexts
from headway.ext.documents.office.package import Package, name_member
from headway.ext.documents.office.run_paragraphs import read_cell
from headway.ext.documents.office.xml_tree import Node, iterate_xml, local_name
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
    sheets = {name: posixpath.basename(name) for name in own if own[name].endswith("worksheet+xml")}
    main = next(name for name, kind in own.items() if kind.endswith(".main+xml"))
    sheets |= {name: node.get("name", "") for name, node in list_parts(package, main, "sheet")}
    strings = next((name for name, kind in own.items() if kind.endswith("sharedStrings+xml")), "")
    cells = read_cells(package, sheets, strings)
    return [cell for cell, text in cells if compared.keeps(text) and is_translatable(text)]


def read_cells(
    package: Package, sheets: Mapping[str, str], strings: str
) -> Iterator[tuple[str, str]]:
    """Yield the names of cells, such as ``Sheet1!B7``, and the texts in them.

    Args:
        package: The workbook.
        sheets: The titles of its sheets, after the names of their parts.
        strings: The name of the part with shared strings.
    """
    nodes = iterate_xml(package.read(strings), "si") if strings in package else ()
    texts = {str(number): _read_text(node) for number, node in enumerate(nodes)}
    for part, title in sheets.items():
        for row in iterate_xml(package.read(part), "row") if part in package else ():
            for cell in row:
                if cell.get("t") in ("s", "inlineStr"):
                    number = cell.findtext("{*}v") or ""
                    text = texts.get(number, "") if cell.get("t") == "s" else _read_text(cell)
                    yield f"{title}!{cell.get('r', '?')}", text


def _read_text(node: Node) -> str:
    """Return the text of a string, without how words are pronounced."""
    texts = node.iter("{*}t")
    return "".join(text.text or "" for text in texts if local_name(text.getparent()) != "rPh")


def list_parts(package: Package, main: str, element: str) -> Iterator[tuple[str, Node]]:
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
