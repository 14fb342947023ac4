"""The direction of the text in Word: properties of paragraphs, sections, tables and runs."""

from typing import NamedTuple

from headway.ext.documents.office.directions import Directions, add_attribute
from headway.ext.documents.text_file import Edit
from headway.ext.documents.xml_tokens import XmlToken, find_attributes


class _Child(NamedTuple):
    """An element of Word that another one must have if the text is from right to left.

    Attributes:
        around: The elements around it, the nearest one last.
        name: Its name, without a prefix.
        earlier: The elements that stand before it; the order is fixed.
    """

    around: tuple[str, ...]
    name: str
    earlier: frozenset[str]


_STYLES = ("styles", "docDefaults", "pPrDefault", "pPr")  # of paragraphs without a style
_CHILDREN = (
    _Child(_STYLES[:1], "docDefaults", frozenset()),
    _Child(_STYLES[:2], "pPrDefault", frozenset({"rPrDefault"})),
    _Child(_STYLES[:3], "pPr", frozenset()),
    _Child(_STYLES, "bidi", frozenset({
        "autoSpaceDE", "autoSpaceDN", "framePr", "keepLines", "keepNext", "kinsoku", "numPr", "overflowPunct", "pBdr", "pStyle",
        "pageBreakBefore", "shd", "suppressAutoHyphens", "suppressLineNumbers", "tabs", "topLinePunct", "widowControl", "wordWrap",
    })),
    _Child(("tbl", "tblPr"), "bidiVisual", frozenset({"tblStyle", "tblpPr", "tblOverlap"})),
)  # fmt: skip
_SWITCHES = ("bidi", "bidiVisual", "rtl")  # of paragraphs and sections, of tables, of runs
# What a run from right to left has in the place of what others have.
_OF_RUNS = {"bCs": "b", "iCs": "i", "szCs": "sz"}


class WordDirection:
    """Turns paragraphs, sections, tables and runs of Word.

    Paragraphs without a direction of their own get one by the styles, and each table gets one. A run is turned only from
    right to left to the other direction.

    Args:
        directions: See `Directions`.
    """

    def __init__(self, directions: Directions) -> None:
        self._is_rtl = directions[1] == "rtl"
        self._prefix = ""
        self._path: list[str] = []
        self._missing: list[_Child | None] = []  # what each element of the path lacks so far
        # Of a run: what it must have too if it is turned; None: it has it.
        self._properties: dict[str, Edit | None] = {}

    def feed(self, token: XmlToken) -> list[Edit]:
        """Return the edits of the next tag."""
        if token.kind == "close":
            self._path.pop()
            missing = self._missing.pop()
            return [self._add(missing, token.start)] if missing else []
        if not self._path:
            self._prefix = token.prefix
        edits = []
        is_own = token.prefix == self._prefix
        parent = self._missing[-1] if self._missing else None
        if parent and token.name not in parent.earlier:
            if token.name != parent.name:
                edits.append(self._add(parent, token.start))
            self._missing[-1] = None
        child = self._find_missing(token.name) if is_own else None
        if token.kind == "open":
            self._path.append(token.name)
            self._missing.append(child)
        elif child:
            edits.append(self._fill(token, child))
        if is_own and token.name in _SWITCHES:
            edits += self._switch(token)
        elif is_own:
            self._note_property(token)
        return edits

    def _find_missing(self, name: str) -> _Child | None:
        """Return what an element of this name lacks where the path ends."""
        if not self._is_rtl:
            return None
        path = (*self._path, name)
        return next((c for c in _CHILDREN if path[-len(c.around) :] == c.around), None)

    def _add(self, child: _Child, place: int) -> Edit:
        return Edit(place, place, self._write(child))

    def _fill(self, token: XmlToken, child: _Child) -> Edit:
        """Return the edit that puts a child into an empty element."""
        opening = token.source[:-2].rstrip()
        closing = f"</{token.prefix}{token.name}>"
        return Edit(token.start, token.end, f"{opening}>{self._write(child)}{closing}")

    def _write(self, child: _Child) -> str:
        around = (*child.around, child.name)
        inner = [self._write(each) for each in _CHILDREN if each.around == around]
        name = f"{self._prefix}{child.name}"
        return f"<{name}>{inner[0]}</{name}>" if inner else f"<{name}/>"

    def _switch(self, token: XmlToken) -> list[Edit]:
        """Return the edits that turn an element which names a direction."""
        spans = find_attributes(token.source)
        name = next((name for name in spans if name.rpartition(":")[2] == "val"), "")
        start, end = spans.get(name, (0, 0))
        is_on = not name or token.source[start + 1 : end - 1].lower() not in ("0", "false", "off")
        if is_on == self._is_rtl or (token.name == "rtl" and self._is_rtl):
            return []
        others = [edit for edit in self._properties.values() if edit] if token.name == "rtl" else []
        self._properties = {}
        new = "1" if self._is_rtl else "0"
        if name:
            return [*others, Edit(token.start + start, token.start + end, f'"{new}"')]
        return [*others, add_attribute(token, f"{self._prefix}val", new)] if self._prefix else []

    def _note_property(self, token: XmlToken) -> None:
        """Remember what a run must have in the place of what only runs from right to left use."""
        if token.name == "rPr":
            self._properties = {}
        elif token.name in _OF_RUNS:
            plain = _OF_RUNS[token.name]
            copy = token.source.replace(token.name, plain, 1)
            self._properties.setdefault(plain, Edit(token.start, token.start, copy))
        elif token.name in _OF_RUNS.values():
            self._properties[token.name] = None
