"""The direction of the text in office files: a translation from or into a language of the other direction turns it.

Each function that turns a part changes its tree, and returns whether anything has changed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import NamedTuple

from headway.ext.documents.office.xml_tree import (
    Node,
    find_attribute,
    find_key,
    local_name,
    namespace,
)

Directions = tuple[str, str]  # of the text and of its translation, "ltr" or "rtl"
Turn = Callable[[Node, Directions], bool]


class Directed(NamedTuple):
    """An attribute that depends on the direction of the text.

    Attributes:
        name: The attribute, without its prefix.
        ltr: Its values for text from left to right; the first is written.
        rtl: Its values for text from right to left.
        prefix: Where it is missing, text from right to left gets it with this prefix; ".": that of the element; None:
            it gets none.
    """

    name: str
    ltr: Sequence[str]
    rtl: Sequence[str]
    prefix: str | None = None


def mirror(name: str, left: str = "left", right: str = "right") -> list[Directed]:
    """Return what becomes of an attribute that names a side, of which the left becomes the right, and the right the left.

    Args:
        name: The attribute.
        left: The names of the left side; the first is written.
        right: Those of the right side.
    """
    first, second = left.split(), right.split()
    return [Directed(name, first, second), Directed(name, second, first)]


def turn_attributes(
    table: Mapping[str, Sequence[Directed]], root: Node, directions: Directions
) -> bool:
    """Change attributes by their elements."""
    nodes = root.iter(*(f"{{*}}{name}" for name in table))
    changes = [_turn(node, table[local_name(node)], directions) for node in nodes]
    return any(changes)


def _turn(node: Node, attributes: Iterable[Directed], directions: Directions) -> bool:
    """Change the attributes of an element."""
    changed: set[str] = set()
    for attribute in attributes:
        before, after = (getattr(attribute, direction) for direction in directions)
        key = find_key(node, attribute.name)
        if not key and attribute.prefix is not None and directions[1] == "rtl":
            spaces = {"": "", ".": namespace(node)}
            spaces |= {
                prefix or "": f"{{{space}}}" for prefix, space in node.nsmap.items() if prefix
            }
            if attribute.prefix in spaces:
                key = f"{spaces[attribute.prefix]}{attribute.name}"
                before = ("",)
        if key and key not in changed and node.get(key, "") in before:
            node.set(key, after[0])
            changed.add(key)
    return bool(changed)


_ON_OR_OFF = (("0", "false"), ("1", "true"))
_RTL = Directed("rtl", *_ON_OR_OFF)
_ALIGNED = [_RTL, *mirror("algn", "l", "r")]
turn_slide = partial(turn_attributes, {
    **dict.fromkeys(("pPr", "defPPr", *(f"lvl{level}pPr" for level in range(1, 10))), _ALIGNED),
    "tblPr": [_RTL._replace(prefix="")],
})  # fmt: skip
turn_cells = partial(turn_attributes, {"alignment": mirror("horizontal")})

_VIEW = re.compile(rb"<(?:\w+:)?sheetView\b[^<>]*>")
_SIDE_OF_VIEW = re.compile(rb"""\srightToLeft=["']\w*["']""")


def turn_sheet(data: bytes, directions: Directions) -> bytes:
    """Return a worksheet that begins at the side where its text does; its rows, which may be many, are not read."""
    side = b' rightToLeft="1"' if directions[1] == "rtl" else b""

    def turn(found: re.Match[bytes]) -> bytes:
        return re.sub(
            rb"(?<!\s)\s*+/?>$", lambda end: side + end[0], _SIDE_OF_VIEW.sub(b"", found[0])
        )

    head, *rows = re.split(rb"(?=<(?:\w+:)?sheetData\b)", data, maxsplit=1)
    return b"".join([_VIEW.sub(turn, head), *rows])


_MODE = Directed("writing-mode", ("lr-tb", "lr"), ("rl-tb", "rl"))
_OF_ODF = {
    "page-layout-properties": [_MODE._replace(prefix=".")],
    "table-properties": [_MODE, *mirror("align")],
    "table-cell-properties": [_MODE],
    "section-properties": [_MODE],
    "graphic-properties": [
        _MODE,
        *mirror("textarea-horizontal-align"),
        *mirror("horizontal-pos"),
        *mirror("wrap"),
    ],
    "list-level-properties": mirror("text-align", "start left", "end right"),
    "footnote-sep": mirror("adjustment"),
}


def turn_odf(root: Node, directions: Directions) -> bool:
    """Turn pages, paragraphs, tables, sections, shapes, lists and notes of OpenDocument.

    A paragraph that names no alignment takes the alignment of the default style. A default style that names none
    gets one, because LibreOffice would align text from right to left at the left.

    By the standard, "start" is the right side of text from right to left. LibreOffice takes it for the left side, and
    writes "end" for the right one. So paragraphs get the side itself, which LibreOffice does not read in cells.
    """
    is_changed = turn_attributes(_OF_ODF, root, directions)
    for node in root.iter("{*}paragraph-properties"):
        style = node.getparent()
        if find_attribute(style, "family") == "table-cell":
            alignments = mirror("text-align", "start left", "end right")
        else:
            alignments = mirror("text-align", "left start", "right end")
            if local_name(style) == "default-style":
                alignments[0] = alignments[0]._replace(prefix="fo")
        is_changed |= _turn(node, [_MODE, *alignments], directions)
    return is_changed


def turn_book(root: Node, directions: Directions) -> bool:
    """Turn the order of the pages, which books name since version 3."""
    order = Directed("page-progression-direction", ("ltr", "default"), ("rtl",), prefix="")
    is_old = root.get("version", "").startswith(("1", "2"))
    return not is_old and turn_attributes({"spine": [order]}, root, directions)


# What a run of Word from right to left has in the place of what others have.
_OF_RUNS = {"bCs": "b", "iCs": "i", "szCs": "sz"}
# The elements that stand before an element of Word; the order is fixed.
_EARLIER = {
    "docDefaults": "", "pPrDefault": "rPrDefault", "pPr": "", "bidiVisual": "tblStyle tblpPr tblOverlap",
    "bidi": "autoSpaceDE autoSpaceDN framePr keepLines keepNext kinsoku numPr overflowPunct pBdr pStyle pageBreakBefore shd "
    "suppressAutoHyphens suppressLineNumbers tabs topLinePunct widowControl wordWrap",
}  # fmt: skip


def turn_word(root: Node, directions: Directions) -> bool:
    """Turn paragraphs, sections, tables and runs of Word.

    Paragraphs without a direction of their own get one by the styles, and each table gets one. A run is turned only from
    right to left to the other direction.
    """
    is_rtl, own, is_changed = directions[1] == "rtl", namespace(root), False
    for node in root.iter(*(own + name for name in ("bidi", "bidiVisual", "rtl"))):
        is_on = find_attribute(node, "val").lower() not in ("0", "false", "off")
        is_run = local_name(node) == "rtl"
        if is_on != is_rtl and not (is_run and is_rtl):
            node.set(f"{own}val", str(int(is_rtl)))
            is_changed = True
            if is_run:
                _keep_look(node.getparent(), own)
    if is_rtl:
        for table in root.iter(f"{own}tblPr"):
            if local_name(table.getparent()) == "tbl":
                is_changed |= _add(table, ["bidiVisual"])
        if local_name(root) == "styles":
            is_changed |= _add(root, ["docDefaults", "pPrDefault", "pPr", "bidi"])
    return is_changed


def _add(node: Node, names: Sequence[str]) -> bool:
    """Add elements in each other to an element of Word, and return whether one was missing."""
    is_changed = False
    for name in names:
        child = node.find(namespace(node) + name)
        if child is None:
            earlier = _EARLIER[name].split()
            child = node.makeelement(namespace(node) + name)
            others = (place for place, other in enumerate(node) if local_name(other) not in earlier)
            node.insert(next(others, len(node)), child)
            is_changed = True
        node = child
    return is_changed


def _keep_look(properties: Node, own: str) -> None:
    """Give a run that is turned what only runs from right to left name in another way."""
    for name, plain in _OF_RUNS.items():
        found = properties.find(own + name)
        if found is not None and properties.find(own + plain) is None:
            copy = deepcopy(found)
            copy.tag = own + plain
            found.addprevious(copy)
