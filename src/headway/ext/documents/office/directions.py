"""The direction of the text in office files: a translation from or into a language of the other direction turns it.

Each function that turns a part changes its tree, and returns whether anything has changed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from headway.ext.documents.office.xml_tree import (
    Node,
    find_attribute,
    find_key,
    local_name,
    namespace,
)

Turn = Callable[[Node, bool], bool]  # whether the translation is written from right to left


class Directed(NamedTuple):
    """An attribute that depends on the direction of the text.

    Attributes:
        to_rtl: What its values become in a translation that is written from right to left.
        to_ltr: What they become in one from left to right.
        prefix: Where it is missing, text from right to left gets it with this prefix; ".": that of the element; None:
            it gets none.
    """

    to_rtl: Mapping[str, str]
    to_ltr: Mapping[str, str]
    prefix: str | None = None

    @classmethod
    def of(cls, ltr: str, rtl: str, prefix: str | None = None) -> "Directed":
        """Return an attribute with its values for both directions; the first of each is written."""
        first, second = ltr.split(), rtl.split()
        return cls(dict.fromkeys(first, second[0]), dict.fromkeys(second, first[0]), prefix)

    @classmethod
    def mirror(cls, left: str, right: str, prefix: str | None = None) -> "Directed":
        """Return an attribute that names a side: the left becomes the right, and the right the left."""
        to_right, to_left, _ = cls.of(left, right)
        return cls({**to_right, **to_left}, {**to_right, **to_left}, prefix)


Attributes = Mapping[str, Directed]  # by their names, without prefixes


def turn_attributes(table: Mapping[str, Attributes], root: Node, is_rtl: bool) -> bool:
    """Change attributes by their elements."""
    nodes = root.iter(*(f"{{*}}{name}" for name in table))
    changes = [_turn(node, table[local_name(node)], is_rtl) for node in nodes]
    return any(changes)


def _turn(node: Node, attributes: Attributes, is_rtl: bool) -> bool:
    """Change the attributes of an element."""
    changed = {}
    for name, (to_rtl, to_ltr, prefix) in attributes.items():
        if key := find_key(node, name):
            changed[key] = (to_rtl if is_rtl else to_ltr).get(node.get(key))
        elif is_rtl and prefix is not None:
            space = namespace(node) if prefix == "." else f"{{{node.nsmap.get(prefix)}}}"
            if not prefix or prefix == "." or prefix in node.nsmap:
                changed[f"{space if prefix else ''}{name}"] = next(iter(to_rtl.values()))
    for key, value in changed.items():
        if value:
            node.set(key, value)
    return any(changed.values())


_RTL = Directed.of("0 false", "1 true")
_SIDES = Directed.mirror("left", "right")
_ALIGNED = {"rtl": _RTL, "algn": Directed.mirror("l", "r")}
turn_slide = partial(turn_attributes, {
    **dict.fromkeys(("pPr", "defPPr", *(f"lvl{level}pPr" for level in range(1, 10))), _ALIGNED),
    "tblPr": {"rtl": _RTL._replace(prefix="")},
})  # fmt: skip
turn_cells = partial(turn_attributes, {"alignment": {"horizontal": _SIDES}})

_VIEW = re.compile(rb"<(?:\w+:)?sheetView\b[^<>]*>")
_SIDE_OF_VIEW = re.compile(rb"""\srightToLeft=["']\w*["']""")


def turn_sheet(data: bytes, is_rtl: bool) -> bytes:
    """Return a worksheet that begins at the side where its text does; its rows, which may be many, are not read."""
    side = b' rightToLeft="1"' if is_rtl else b""

    def turn(found: re.Match[bytes]) -> bytes:
        return re.sub(
            rb"(?<!\s)\s*+/?>$", lambda end: side + end[0], _SIDE_OF_VIEW.sub(b"", found[0])
        )

    head, *rows = re.split(rb"(?=<(?:\w+:)?sheetData\b)", data, maxsplit=1)
    return b"".join([_VIEW.sub(turn, head), *rows])


_MODE = Directed.of("lr-tb lr", "rl-tb rl")
_STARTS = Directed.mirror("start left", "end right")
_GRAPHIC = dict.fromkeys(("textarea-horizontal-align", "horizontal-pos", "wrap"), _SIDES)
_OF_ODF: Mapping[str, Attributes] = {
    "page-layout-properties": {"writing-mode": _MODE._replace(prefix=".")},
    "table-properties": {"writing-mode": _MODE, "align": _SIDES},
    "table-cell-properties": {"writing-mode": _MODE},
    "section-properties": {"writing-mode": _MODE},
    "graphic-properties": {"writing-mode": _MODE, **_GRAPHIC},
    "list-level-properties": {"text-align": _STARTS},
    "footnote-sep": {"adjustment": _SIDES},
}


def turn_odf(root: Node, is_rtl: bool) -> bool:
    """Turn pages, paragraphs, tables, sections, shapes, lists and notes of OpenDocument.

    A paragraph that names no alignment takes the alignment of the default style. A default style that names none
    gets one, because LibreOffice would align text from right to left at the left.

    By the standard, "start" is the right side of text from right to left. LibreOffice takes it for the left side, and
    writes "end" for the right one. So paragraphs get the side itself, which LibreOffice does not read in cells.
    """
    is_changed = turn_attributes(_OF_ODF, root, is_rtl)
    for node in root.iter("{*}paragraph-properties"):
        style = node.getparent()
        prefix = "fo" if local_name(style) == "default-style" else None
        aligned = Directed.mirror("left start", "right end", prefix)
        if find_attribute(style, "family") == "table-cell":
            aligned = _STARTS
        is_changed |= _turn(node, {"writing-mode": _MODE, "text-align": aligned}, is_rtl)
    return is_changed


def turn_book(root: Node, is_rtl: bool) -> bool:
    """Turn the order of the pages, which books name since version 3."""
    order = Directed.of("ltr default", "rtl", prefix="")
    is_old = root.get("version", "").startswith(("1", "2"))
    table = {"spine": {"page-progression-direction": order}}
    return not is_old and turn_attributes(table, root, is_rtl)


# The elements that stand before an element of Word; the order is fixed.
_EARLIER = {
    "docDefaults": "", "pPrDefault": "rPrDefault", "pPr": "", "bidiVisual": "tblStyle tblpPr tblOverlap",
    "bidi": "autoSpaceDE autoSpaceDN framePr keepLines keepNext kinsoku numPr overflowPunct pBdr pStyle pageBreakBefore shd "
    "suppressAutoHyphens suppressLineNumbers tabs topLinePunct widowControl wordWrap",
}  # fmt: skip


def turn_word(root: Node, is_rtl: bool) -> bool:
    """Turn paragraphs, sections, tables and runs of Word.

    Paragraphs without a direction of their own get one by the styles, and each table gets one. A run is turned only from
    right to left to the other direction.
    """
    own, is_changed = namespace(root), False
    for node in root.iter(*(own + name for name in ("bidi", "bidiVisual", "rtl"))):
        is_on = find_attribute(node, "val").lower() not in ("0", "false", "off")
        is_run = local_name(node) == "rtl"
        if is_on != is_rtl and not (is_run and is_rtl):
            node.set(f"{own}val", str(int(is_rtl)))
            is_changed = True
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
