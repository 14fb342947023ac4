"""Paragraphs of OpenDocument: text with spans, in which several spaces are one."""

import re

from lxml.etree import SubElement

from headway.ext.documents.marked_text import MAX_DEPTH, Kind, Part, make_kept, make_paragraph
from headway.ext.documents.office.runs import END, ContentWriter, Opened, Piece, Style, join_runs
from headway.ext.documents.office.xml_part import Place
from headway.ext.documents.office.xml_tree import Node, find_attribute, local_name, namespace
from headway.ext.documents.paragraph import Translated

_SPACES = re.compile(r"[ \t\r\n]+")
_WRAPPERS = frozenset({
    "a", "bookmark-ref", "content-control", "meta", "reference-ref", "span", "text-input",
})  # fmt: skip
_MERGED = frozenset({"a", "span"})
_RANGE = re.compile(
    "(alphabetical-index-mark|annotation|bookmark|change|reference-mark|toc-mark|user-index-mark)(-start|-end|)"
)
_SIDES: dict[str, Kind] = {"-start": "open", "-end": "close"}
_NAMES = ("name", "change-id", "id")  # the first that a mark has is equal at both ends of a range
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
    return _TextPlace(node, make_paragraph(join_runs(reader.parts)))


class _TextPlace(Place):
    """A paragraph."""

    __slots__ = ()

    def write(self, translated: Translated) -> None:
        """Write the translation into the tree."""
        _Writer(self.node).write(self.paragraph, translated)


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
        elif (found := _RANGE.fullmatch(name)) and (kind := _find_range(node, *found.groups())):
            self._is_space = was_space
            names = (find_attribute(node, each) for each in _NAMES)
            self._put(kind, node, f"{found[1]} {next(filter(None, names), '')}")
        elif is_own and not len(node) and name != "script":
            self.parts.append(make_kept((Piece(node),), _SPACES.sub(" ", node.text or "")))
        else:
            self._put("point", node)


def _find_range(node: Node, kind: str, side: str) -> Kind | None:
    """Return what an element does with a range of a kind; None: nothing.

    A mark of a comment has the comment in it, and a name if it has an end.
    """
    if kind == "annotation" and not side:
        return "open" if find_attribute(node, "name") else None
    return _SIDES.get(side)


class _Writer(ContentWriter):
    """Writes the content of a paragraph, with elements for the spaces that do not count otherwise."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._is_space = True  # another space would not count

    def _write_text(self, text: str) -> None:
        before = " " * self._is_space
        text = before + re.sub(r"[\t\r]", " ", text)
        first, *others = re.split("(?<= ) ", text)
        self._add(first.removeprefix(before))
        for words in others:
            SubElement(self._holder, f"{self._namespace}s")
            self._add(words)
        self._is_space = text.endswith(" ")

    def _add(self, text: str) -> None:
        """Add text behind all that has been written."""
        last = next(self._holder.iterchildren(reversed=True), None)
        if last is None:
            self._holder.text = (self._holder.text or "") + text or None
        elif text:
            last.tail = (last.tail or "") + text

    def _append(self, node: Node, style: Style | None) -> None:
        self._is_space = self._is_space or local_name(node) in _BREAKS
        super()._append(node, style)

    def _make_break(self) -> tuple[Piece]:
        return (Piece(self._holder.makeelement(f"{self._namespace}line-break")),)
