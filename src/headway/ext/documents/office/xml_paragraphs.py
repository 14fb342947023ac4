"""Paragraphs of office files in the tree of XML: they are read, and written again with their translations.

A paragraph is emptied and filled again: elements move to their new places with all that is in them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from sys import intern
from typing import Any

from lxml.etree import SubElement

from headway.ext.documents.marked_text import (
    MAX_DEPTH,
    Kind,
    Part,
    flatten,
    join_sources,
    make_kept,
    make_paragraph,
)
from headway.ext.documents.office.dialects import Dialect
from headway.ext.documents.office.runs import END, Opened, Piece, Style, join_runs, mark_styles
from headway.ext.documents.office.xml_tree import (
    Node,
    clean_text,
    find_attribute,
    local_name,
    namespace,
)
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.placing import place
from headway.text import is_translatable

_BARE = Style("bare")  # of text that stands in no run
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_SEVERAL_SPACES = re.compile(r"[ \t\r\n]+")
_MOST_SPACES = 100  # that one element of OpenDocument stands for
UNLIMITED = 1 << 30  # characters
# What two runs may differ in and still look the same: language, marks of the spelling check, revisions.
_NOISE = frozenset({
    "lang", "noProof", "webHidden", "rsid", "rsidR", "rsidRPr", "altLang", "dirty", "err", "smtClean", "smtId", "bmk",
})  # fmt: skip


# Fields that show text of the document. All other fields show numbers, dates, names or other data.
_TEXT_FIELDS = {"HYPERLINK", "INDEX", "QUOTE", "REF", "STYLEREF", "TOA", "TOC", "XE"}
_FORM = "FORMTEXT"  # its result is text unless it is empty, which five spaces show
_FIELD = "field"


@dataclass(slots=True)
class Place:
    """A text of a part, and where it stands. A part may have many, so that each is small.

    Attributes:
        node: The element that has it.
        paragraph: The text.
        write: Writes a translation into the tree.
        detail: What that needs to know.
        limit: The most characters that a translation may have; a longer one is not written.
    """

    node: Node
    paragraph: Paragraph
    write: Callable[["Place", Translated], None]
    detail: Any = None
    limit: int = UNLIMITED

    @property
    def has_words(self) -> bool:
        """Whether the text has words outside of the elements that stay."""
        text, at = "", 0
        for start, end in self.paragraph.kept:
            text += self.paragraph.text[at:start]
            at = end
        return is_translatable(text + self.paragraph.text[at:])


def read_paragraph(dialect: Dialect, node: Node, limit: int = UNLIMITED) -> Place:
    """Return a paragraph.

    Args:
        dialect: How the format writes it.
        node: Its element.
        limit: See `Place`.
    """
    reader = _Reader(dialect)
    reader.read(node, None, 0)
    parts, style = join_runs(reader.parts), None
    if not dialect.is_mixed:  # text that stands in no run has no style
        parts, style = mark_styles(parts)
    return Place(node, make_paragraph(parts), _write_paragraph, (dialect, style), limit)


def _write_paragraph(place: Place, translated: Translated) -> None:
    """Write the translation of a paragraph into the tree."""
    dialect, style = place.detail
    _Writer(dialect, style, place.node).write(place.paragraph, translated)


@dataclass
class _Field:
    """A field of Word that has begun and not ended: where it begins, where its result begins, and its instruction."""

    start: int
    separate: int = 0
    instruction: str = ""

    @property
    def kind(self) -> str:
        """What the field is, by its instruction."""
        return next(iter(self.instruction.split(maxsplit=1)), "").upper()


class _Reader:
    """Reads the content of a paragraph.

    A field is an element around its result, or has no text. One that begins or ends in another paragraph, such as a
    table of contents, or in another element, is plain markup.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.parts: list[Part] = []
        self._dialect = dialect
        self._styles: dict[str, Style] = {}
        self._fields: list[_Field] = []  # that are open in the element that is read
        self._is_space = (
            True  # where text stands directly in elements: another space would not count
        )

    def read(self, node: Node, style: Style | None, depth: int) -> None:
        """Read the content of an element.

        Args:
            node: The element.
            style: Of the run that it is in; None: of none.
            depth: How many elements around it have been read.
        """
        self._read_bare(node.text)
        for child in node:
            self._read_child(child, style, depth)
            self._read_bare(child.tail)

    def _read_child(self, node: Node, style: Style | None, depth: int) -> None:
        name = local_name(node)
        role = self._dialect.name_role(node, name)
        piece = Piece(node, style)
        if depth > MAX_DEPTH:
            self._put("point", "", piece)
        elif name == "r" and _is_hidden(node):
            self._put("point", "", Piece(node))
        elif name == "r":
            self.read(node, self._read_style(node), depth + 1)
        elif name == "t":
            self._read_text(node, style or _BARE)
        elif role in ("transparent", "holder"):
            self.read(node, style, depth + 1)
        elif role in ("wrapper", "reference"):
            self._read_wrapper(node, style, depth, role)
        elif role == "break":
            self._put("line", "", piece)
            self._is_space = name == "line-break"
        elif role == "hyphen":
            style = style or Style("")
            self.parts.append(Part("text", (Piece(node, style),), "-", key=style.key))
        elif role == "spaces":
            count = find_attribute(node, "c")
            spaces = int(count) if count.isdecimal() and len(count) < 6 else 1
            self.parts.append(Part("text", (), " " * min(spaces, _MOST_SPACES)))
            self._is_space = False
        elif name == "fldChar":
            self._read_field_mark(piece, find_attribute(node, "fldCharType"))
        elif name == "instrText":
            self._put("point", "", piece)
            if self._fields and not self._fields[-1].separate:
                self._fields[-1].instruction += node.text or ""
        elif found := self._dialect.name_range(node, name):
            self._put(*found, piece)
        elif role in ("formula", "field"):
            self.parts.append(make_kept((piece,), _read_texts(node)))
            self._is_space = False
        elif not role and not (name == "rPr" and style):
            self._put("point", "", piece)
            self._is_space = False

    def _read_bare(self, source: str | None) -> None:
        """Read text that stands in no run."""
        if source and self._dialect.is_mixed:
            text = _SEVERAL_SPACES.sub(" ", source)
            if text := text.removeprefix(" ") if self._is_space else text:
                self._is_space = text.endswith(" ")
                self.parts.append(Part("text", (), text))

    def _read_style(self, run: Node) -> Style:
        """Return the style of a run; those that look the same are one."""
        properties = next((child for child in run if local_name(child) == "rPr"), None)
        key = "" if properties is None else intern(describe_content(properties))
        return self._styles.setdefault(key, Style(key, properties))

    def _read_field_mark(self, piece: Piece, kind: str) -> None:
        """Read what begins or ends a field, or stands before its result."""
        at = len(self.parts)
        self._put("close" if kind == "end" else "point", _FIELD, piece)
        if kind == "begin" and len(self._fields) < MAX_DEPTH:
            self._fields.append(_Field(at))
        elif kind == "separate" and self._fields:
            self._fields[-1].separate = self._fields[-1].separate or at
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            self.parts[field.start :] = _join_field(self.parts[field.start :], field)

    def _put(self, kind: Kind, name: str, piece: Piece) -> None:
        self.parts.append(Part(kind, (piece,), name=name))

    def _read_text(self, node: Node, style: Style) -> None:
        text = self._dialect.read("".join(node.itertext()))
        if self._dialect.is_trimmed and node.get(_SPACE) != "preserve":
            text = text.strip(" \t\r\n")
        self.parts.append(Part("text", (Piece(node, style),), text, key=style.key))

    def _read_wrapper(self, node: Node, style: Style | None, depth: int, role: str) -> None:
        name = local_name(node)
        field = _Field(0, instruction=find_attribute(node, "instr"))
        if name == "fldSimple" and field.kind not in _TEXT_FIELDS:
            self.parts.append(make_kept((Piece(node, style),), _read_texts(node)))
            return
        holder = next(iter(self._dialect.find(node, "holder")), node)
        attached = self._dialect.find(node, "attached")
        key = "" if attached or role == "reference" else name + _describe(node)
        opened = Opened(node, holder, tuple(attached) if holder is node else ())
        self.parts.append(Part("open", (opened,), name=name, is_element=True, key=key))
        fields, self._fields = self._fields, []
        self.read(node, style, depth + 1)
        self._fields = fields
        self.parts.append(Part("close", (END,), name=name, is_element=True))


def _join_field(parts: Sequence[Part], field: _Field) -> list[Part]:
    """Return the parts of a field as an element around its result, or as one part."""
    if not field.separate:
        return [Part("point", join_sources(parts))]
    behind = field.separate + 1 - field.start
    result = parts[behind:-1]
    texts = [" " if part.kind == "line" else part.text for part in result]
    is_form = field.kind == _FORM and any(map(is_translatable, texts))
    if field.kind not in _TEXT_FIELDS and not is_form:
        return [make_kept(join_sources(parts), "".join(texts))]
    opening = Part("open", join_sources(parts[:behind]), name=_FIELD, is_element=True)
    return [opening, *result, parts[-1]._replace(is_element=True)]


def _is_hidden(run: Node) -> bool:
    """Return whether a run has text that is not shown; no word of a translation belongs into it."""
    marks = run.iterfind("{*}rPr/{*}vanish") if run.find("{*}t") is not None else ()
    return any(find_attribute(mark, "val") not in ("0", "false", "off") for mark in marks)


def _read_texts(node: Node) -> str:
    """Return the text that an element shows."""
    return " ".join("".join(node.itertext()).split())


def describe_content(node: Node) -> str:
    """Return the attributes and elements of an element, without those that are not seen."""
    attributes = _describe(node)
    inner = [
        f"<{local_name(child)}{describe_content(child)}>"
        for child in node
        if local_name(child) not in _NOISE
    ]
    return attributes + "".join(inner)


def _describe(node: Node) -> str:
    """Return the attributes of an element, without those that are not seen."""
    found = ((name.rpartition("}")[2], value) for name, value in node.items())
    return "".join(f" {name}={value!r}" for name, value in found if name not in _NOISE)


class _Writer:
    """Writes a paragraph from its beginning to its end; neighboring text of one style becomes one run.

    Args:
        dialect: How the format writes it.
        style: Of most of its text.
        node: Its element, which is emptied.
    """

    def __init__(self, dialect: Dialect, style: Style | None, node: Node) -> None:
        self._dialect, self._namespace = dialect, namespace(node)
        self._tail = dialect.find(node, "tail")
        _fill(node, dialect.find(node, "head"))
        self._open = [(node, style)]  # what holds the content, and the style of text in it
        self._run: Node | None = None  # or what holds text without a run
        self._key = ""  # of its style
        self._has_main = True  # whether words stand outside of all elements
        self._is_space = (
            True  # where text stands directly in elements: another space would not count
        )

    def write(self, paragraph: Paragraph, translated: Translated) -> None:
        """Write the translation of the paragraph with its elements around their words."""
        breaks, placed = iter(paragraph.lines), place(paragraph, translated)
        self._has_main = any(isinstance(part, str) and part.strip() for part in placed)
        for part, is_markup in flatten(placed):
            if is_markup:
                self._put(part)
                continue
            # Where a format has no element for a line break, it is a character.
            for number, line in enumerate(part.split("\n") if paragraph.lines else [part]):
                if number:
                    self._put(next(breaks, ()))
                if text := clean_text(line):
                    (self._write_bare if self._dialect.is_mixed else self._write_text)(text)
        for pieces in breaks:  # the translation has fewer
            self._put(pieces)
        self._open[0][0].extend(self._tail)

    @property
    def _holder(self) -> Node:
        return self._open[-1][0]

    def _put(self, pieces: Iterable[Any]) -> None:
        """Write markup."""
        for piece in pieces:
            if piece is END:
                self._open.pop()
            elif isinstance(piece, Opened):
                holder, style = self._open[-1]
                if piece.node is not None:
                    self._append(piece.node, None)
                    holder = piece.holder
                    _fill(holder, piece.head)
                self._open.append((holder, self._choose_style(piece, style)))
                if piece.style is not None and piece.style.is_link:
                    self._write_text("")  # a link without a word is kept, too
            else:
                self._append(piece.node, piece.style)

    def _choose_style(self, opened: Opened, around: Style | None) -> Style | None:
        """Return the style of text in an element: its own, if that loses no link and no other look."""
        own = opened.style or around
        if around is None or own is None or own.is_link:
            return own
        is_lost = len(self._open) == 1 and not self._has_main  # the look of most text
        is_plainer = opened.node is None and len(own.key) < len(around.key)
        return around if around.is_link or (is_lost and is_plainer) else own

    def _append(self, node: Node, style: Style | None) -> None:
        """Write an element."""
        node.tail = None
        self._start_run(style).append(node)
        self._is_space = self._is_space or self._dialect.roles.get(local_name(node)) == "break"

    def _write_text(self, text: str) -> None:
        """Write text without line breaks into a run."""
        run = self._start_run(self._open[-1][1] or Style(""))
        last = next(run.iterchildren(reversed=True), None)  # its length would have to be counted
        if last is None or local_name(last) != "t":
            last = SubElement(run, f"{self._namespace}t")
        last.text = (last.text or "") + self._dialect.write(text)
        last.attrib.pop(_SPACE, None)
        if self._dialect.is_trimmed and last.text != last.text.strip():
            last.set(_SPACE, "preserve")

    def _start_run(self, style: Style | None) -> Node:
        """Return the run that goes on, or a new one; None: what holds runs."""
        is_same = self._run is not None and self._run.getparent() is self._holder
        if style is None or style is _BARE:
            self._run = None
            return self._holder
        if not (is_same and style.key == self._key):
            self._run, self._key = SubElement(self._holder, f"{self._namespace}r"), style.key
            if style.properties is not None:
                properties = deepcopy(style.properties)
                properties.tail = None
                self._run.append(properties)
        return self._run

    def _write_bare(self, text: str) -> None:
        """Write text without line breaks and runs, with elements for the spaces that do not count otherwise."""
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


def _fill(node: Node, content: Iterable[Node]) -> None:
    """Replace the content of an element."""
    del node[:]
    node.text = None
    node.extend(content)
