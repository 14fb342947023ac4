"""Paragraphs of OpenDocument: text with spans, in which several spaces are one."""

import re

from lxml.etree import SubElement

from headway.ext.documents.blocks import MAX_DEPTH, Kind, Part, make_block, make_kept
from headway.ext.documents.office.places import Place, place_block
from headway.ext.documents.office.runs import END, ContentWriter, Opened, Piece, Style, join_runs
from headway.ext.documents.office.xml_tree import Node, find_attribute, local_name, namespace

_SPACES = re.compile(r"[ \t\r\n]+")
_WRAPPERS = frozenset({
    "a", "bookmark-ref", "content-control", "meta", "reference-ref", "span", "text-input",
})  # fmt: skip
_MERGED = frozenset({"a", "span"})
_RANGES = frozenset({
    "alphabetical-index-mark", "annotation", "bookmark", "change", "reference-mark", "toc-mark", "user-index-mark",
})  # fmt: skip
_NAMES = (
    "name",
    "change-id",
    "id",
)  # the first one that a mark has is equal at both ends of a range
_BREAKS = frozenset({"line-break", "tab"})
_TRANSPARENT = frozenset({"ruby", "ruby-base"})  # a translation has no readings of words
_DROPPED = frozenset({"ruby-text", "soft-page-break"})
_MOST_SPACES = 100  # that one element stands for


def unify_styles(root: Node) -> None:
    """Give spans whose automatic styles look the same one style, and none if it has no properties.

    Programs give words that were written at different times different styles, which are equal.
    """
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    for style in root.iterfind("{*}automatic-styles/{*}style"):
        if find_attribute(style, "family") != "text":
            continue
        name = find_attribute(style, "name")
        seen = [
            f"{local_name(node)} {key}={value}"
            for node in style.iter()
            for key, value in node.items()
            if not (node is style and value == name) and "rsid" not in key
        ]
        is_empty = len(seen) == 1  # the family
        same[name] = "" if is_empty else first.setdefault("\n".join(seen), name)
    for span in root.iter("{*}span"):
        key = f"{namespace(span)}style-name"
        own = span.get(key, "")
        if same.get(own, own):
            span.set(key, same.get(own, own))
        else:
            span.attrib.pop(key, None)


def read_paragraph(node: Node) -> Place:
    """Return a paragraph."""
    reader = _Reader(namespace(node))
    reader.read(node, 0)
    block = make_block(join_runs(reader.parts))
    return place_block(block, lambda translated: _Writer(node).write(block, translated))


class _Reader:
    """Reads the content of a paragraph."""

    def __init__(self, own: str) -> None:
        self.parts: list[Part] = []
        self._namespace = own
        self._is_space = True  # another space would not count

    def read(self, node: Node, depth: int) -> None:
        """Read the content of an element; the depth is the number of the elements around it that have been read."""
        self._read_text(node.text)
        for child in node:
            name, is_own = local_name(child), namespace(child) == self._namespace
            if depth > MAX_DEPTH:
                self._put("point", child)
            elif name in _TRANSPARENT or (name == "span" and not child.attrib):
                self.read(child, depth + 1)
            elif name in _WRAPPERS:
                key = f"{name} {child.attrib}" if name in _MERGED else ""
                opened = (Opened(child, child),)
                self.parts.append(Part("open", opened, name=name, is_element=True, key=key))
                self.read(child, depth + 1)
                self.parts.append(Part("close", (END,), name=name, is_element=True))
            elif name not in _DROPPED:
                self._read_whole(child, name, is_own)
            self._read_text(child.tail)

    def _put(self, kind: Kind, node: Node, name: str = "") -> None:
        self.parts.append(Part(kind, (Piece(node),), name=name))

    def _read_text(self, source: str | None) -> None:
        text = _SPACES.sub(" ", source or "")
        text = text.removeprefix(" ") if self._is_space else text
        if text:
            self._is_space = text.endswith(" ")
            self.parts.append(Part("text", (), text))

    def _read_whole(self, node: Node, name: str, is_own: bool) -> None:
        was_space, self._is_space = self._is_space, False
        if is_own and name == "s":
            count = find_attribute(node, "c")
            spaces = int(count) if count.isdecimal() and len(count) < 6 else 1
            self.parts.append(Part("text", (), " " * min(spaces, _MOST_SPACES)))
        elif is_own and name in _BREAKS:
            self._is_space = name == "line-break"
            self._put("line", node)
        elif kind := _find_range(node, name):
            self._is_space = was_space
            self._put(kind, node, _name_range(node, name))
        elif is_own and not len(node) and name != "script":
            self.parts.append(make_kept((Piece(node),), _SPACES.sub(" ", node.text or "")))
        else:
            self._put("point", node)


def _find_range(node: Node, name: str) -> Kind | None:
    """Return what an element does with a range; None: nothing.

    A mark of a comment has the comment in it, and a name if it has an end.
    """
    if name == "annotation":
        return "open" if find_attribute(node, "name") else None
    if name.removesuffix("-start").removesuffix("-end") not in _RANGES:
        return None
    return "open" if name.endswith("-start") else "close" if name.endswith("-end") else None


def _name_range(node: Node, name: str) -> str:
    found = (find_attribute(node, each) for each in _NAMES)
    name = name.removesuffix("-start").removesuffix("-end")
    return f"{name} {next(filter(None, found), '')}"


class _Writer(ContentWriter):
    """Writes the content of a paragraph, with elements for the spaces that do not count otherwise."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._is_space = True  # another space would not count
        self._text: list[str] = []  # that is not written yet

    def _write_text(self, text: str) -> None:
        for number, word in enumerate(re.sub(r"[\t\r]", " ", text).split(" ")):
            if number and self._is_space:
                self._end_text()
                SubElement(self._open[-1][0], f"{self._namespace}s")
            elif number:
                self._text.append(" ")
                self._is_space = True
            if word:
                self._text.append(word)
                self._is_space = False

    def _end_text(self) -> None:
        holder, text = self._open[-1][0], "".join(self._text)
        last = next(holder.iterchildren(reversed=True), None)
        if last is None:
            holder.text = text or None
        elif text:
            last.tail = text
        self._text = []

    def _append(self, node: Node, style: Style | None) -> None:
        self._end_text()
        if local_name(node) in _BREAKS:
            self._is_space = True
        super()._append(node, style)

    def _make_break(self) -> tuple[Piece]:
        return (Piece(self._open[0][0].makeelement(f"{self._namespace}line-break")),)
