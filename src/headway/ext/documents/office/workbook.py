"""What a workbook (.xlsx) compares texts of its cells with, and the cells that stay for it."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headway.ext.documents.office.dialects import read_cell
from headway.ext.documents.office.package import Package, name_member
from headway.ext.documents.office.xml_tree import Node, iterate_xml, local_name
from headway.ext.documents.paragraph import Paragraph, Translated

# What compares texts in a formula, and what looks into them.
_COMPARING = re.compile(
    r"[<>=]|\b(?:\w*IFS?|X?MATCH|[VHX]?LOOKUP|EXACT|SWITCH|SEARCHB?|FINDB?|SUBSTITUTE|D[A-Z]+|FILTER|GETPIVOTDATA|INDIRECT)\s*\("
)
_INSIDE = re.compile(r"\b(?:SEARCHB?|FINDB?|LEFTB?|RIGHTB?|MIDB?|SUBSTITUTE|REPLACE)\s*\(")
QUOTED = re.compile(r'"((?:[^"]|"")*+)"')  # a text in a formula
_OPERATOR = re.compile(r"^[<>=]+")
_WILD = re.compile(r"[*?]+")
# A name in a formula: `Sales[Price]`, `[@Price]`, `Sales[[#This Row],[Price]]`.
_COLUMN = re.compile(r"\[@?([^\[\]]+)\]")
_MOST_PARTS = 100  # with more parts of texts, every text stays


@dataclass
class ComparedTexts:
    """The texts with which a spreadsheet compares those of its cells, without capitals.

    Attributes:
        texts: Whole texts.
        parts: What may stand in a text.
        is_used: Whether anything compares texts of cells.
    """

    texts: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    is_used: bool = False

    def add_formula(self, source: str) -> None:
        """Add the texts in a formula that compares, and the names of columns."""
        self.add(_COLUMN.findall(source))
        if not _COMPARING.search(source):
            return
        self.is_used = True
        looks_inside = _INSIDE.search(source)
        for found in QUOTED.findall(source):
            text = _OPERATOR.sub("", found.replace('""', '"'))
            pieces = [piece for piece in _WILD.split(text) if piece.strip()]
            if looks_inside or [text] != pieces:
                self.parts.update(map(_fold, pieces))
            else:
                self.texts.add(_fold(text))

    def add(self, texts: Iterable[str]) -> None:
        """Add whole texts."""
        found = {*map(_fold, texts)} - {""}
        self.texts |= found
        self.is_used |= bool(found)

    def keeps(self, text: str) -> bool:
        """Return whether a text stays."""
        folded = _fold(text)
        are_many = len(self.parts) > _MOST_PARTS
        return folded in self.texts or are_many or any(part in folded for part in self.parts)

    def agree(
        self, paragraphs: Sequence[Paragraph], translations: Sequence[Translated]
    ) -> Sequence[Translated]:
        """Return the translations with one for each text, and different ones for different texts.

        A text stays as it is if another text has the same translation, or if its translation has no words: the names of
        columns must differ, and must not be empty.

        Args:
            paragraphs: The texts of the spreadsheet.
            translations: One for each of them.
        """
        if not self.is_used:
            return translations
        both = [
            (own.text.casefold(), new) for own, new in zip(paragraphs, translations, strict=True)
        ]
        owners = {key: key for key, new in both if new.text.casefold() == key}
        chosen: dict[str, Translated] = {}
        for (key, new), own in zip(both, paragraphs, strict=True):
            folded = new.text.casefold()
            is_free = folded.strip() and not self.keeps(new.text)
            if not is_free or owners.setdefault(folded, key) != key:
                new = Translated(own.text)
            chosen.setdefault(key, new)
        return [
            new if new.text.casefold() == chosen[key].text.casefold() else chosen[key]
            for key, new in both
        ]


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


# Ends of types of parts in which something compares: formulas, lists, filters; names of columns; pivot tables.
_PARTS = ("worksheet+xml", "table+xml", "main+xml", "pivotCacheDefinition+xml")
# A worksheet without any of these compares nothing; to read it would take long.
_SIGNS = (b"<f", b":f", b"ustomFilter", b"tableColumn", b"definedName", b"cacheField")
# Ends of types of parts that use names of columns in ways of their own.
_OTHER_USES = ("queryTable+xml", "slicerCache+xml", "connections+xml", "vbaProject")
# Marks of formulas in names, and characters that cells and tables write in different ways.
_HAS_MARKS = re.compile(r"[\[\]#'@\t\r\n]|_x[0-9A-Fa-f]{4}_")


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
        data = package.read(name) if kind.endswith(_PARTS) else b""
        if any(sign in data for sign in _SIGNS):
            with name_member(name):
                for node in _find_signs(data):
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
    if name in ("formula", "formula1", "formula2"):  # of a format or a list: whole texts
        found.add(choice for text in QUOTED.findall(source) for choice in text.split(","))
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


def read_cells(package: Package, types: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield of each cell with text the part that has the text, the cell's name, such as ``Sheet1!B7``, and the text.

    Args:
        package: The workbook.
        types: The type of the content of each member.
    """
    own = {name: kind for name, kind in types.items() if name in package}
    sheets = {name: posixpath.basename(name) for name in own if own[name].endswith("worksheet+xml")}
    main = next(name for name, kind in own.items() if kind.endswith(".main+xml"))
    sheets |= {name: node.get("name", "") for name, node in list_parts(package, main, "sheet")}
    strings = next((name for name, kind in own.items() if kind.endswith("sharedStrings+xml")), "")
    nodes = iterate_xml(package.read(strings), "si") if strings in package else ()
    texts = {str(number): _read_text(node) for number, node in enumerate(nodes)}
    for part, title in sheets.items():
        for row in iterate_xml(package.read(part), "row") if part in package else ():
            for cell in row:
                name = f"{title}!{cell.get('r', '?')}"
                if cell.get("t") == "s":
                    yield strings, name, texts.get(cell.findtext("{*}v") or "", "")
                elif cell.get("t") == "inlineStr":
                    yield part, name, _read_text(cell)


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
