"""Paragraphs made of runs: text with properties, as in word processing, slides and cells."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from sys import intern
from typing import Any

from lxml.etree import SubElement

from headway.ext.documents.marked_text import MAX_DEPTH, Kind, Part, make_kept, make_paragraph
from headway.ext.documents.office.runs import (
    END,
    ContentWriter,
    Opened,
    Piece,
    Style,
    join_runs,
    mark_styles,
)
from headway.ext.documents.office.xml_part import Place
from headway.ext.documents.office.xml_tree import Node, find_attribute, local_name
from headway.ext.documents.paragraph import Translated
from headway.text import is_translatable

_BARE = Style("bare")  # of text that stands in no run, in a cell
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_SPACES = re.compile(r"[\t\n\r]")
_ESCAPE = re.compile(r"_x000([9ADad])_")
# What two runs may differ in and still look the same: language, marks of the spelling check, revisions.
_NOISE = frozenset({
    "lang", "noProof", "webHidden", "rsid", "rsidR", "rsidRPr", "altLang", "dirty", "err", "smtClean", "smtId", "bmk",
})  # fmt: skip


# Fields that show text of the document. All other fields show numbers, dates, names or other data.
_TEXT_FIELDS = {"HYPERLINK", "INDEX", "QUOTE", "REF", "STYLEREF", "TOA", "TOC", "XE"}
_FORM = "FORMTEXT"  # its result is text unless it is empty, which five spaces show
_FIELD = "field"


@dataclass(frozen=True)
class RunDialect:
    """How a format writes paragraphs.

    Attributes:
        roles: What elements are, by their names: a "break" is a line break or tab; a "head" or a "tail" stands before or
            behind the content; a "wrapper" stands around runs, its content in a "holder", and what is "attached" to it
            describes it; of a "transparent" element around runs or text a translation lacks the tags; a "formula" stays as
            it is, and stands for a word, as a "field" does; a "hyphen" is one; what is "dropped" says nothing about a
            translation.
        new_break: The name of a new line break; "": it is a character.
        has_breaks_in_runs: Whether a line break stands in a run.
        numbered: Wrappers whose identifiers differ where nothing else does.
        ranges: Names of pairs of elements that mark a range.
        is_trimmed: Whether space at the ends of a text counts only with ``xml:space="preserve"``.
        read: Returns what the characters of a text mean.
        write: Returns the characters of a text.
    """

    roles: Mapping[str, str]
    new_break: str = ""
    has_breaks_in_runs: bool = True
    numbered: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    is_trimmed: bool = True
    read: Callable[[str], str] = lambda text: _SPACES.sub(" ", text)
    write: Callable[[str], str] = str

    def find(self, node: Node, role: str) -> list[Node]:
        """Return the children of an element that have a role."""
        return [child for child in node if self.roles.get(local_name(child)) == role]


def read_paragraph(dialect: RunDialect, node: Node) -> Place:
    """Return a paragraph.

    Args:
        dialect: How the format writes it.
        node: Its element.
    """
    reader = _Reader(dialect)
    reader.read(node, None, 0)
    parts, style = mark_styles(join_runs(reader.parts))
    return _RunPlace(node, make_paragraph(parts), dialect, style)


@dataclass(slots=True)
class _RunPlace(Place):
    """A paragraph of runs.

    Attributes:
        dialect: How the format writes it.
        style: Of most of its text.
    """

    dialect: RunDialect
    style: Style | None

    def write(self, translated: Translated) -> None:
        """Write the translation into the tree."""
        head, tail = (self.dialect.find(self.node, role) for role in ("head", "tail"))
        writer = _Writer(self.dialect, self.node, self.style, head, tail)
        writer.write(self.paragraph, translated)


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

    def __init__(self, dialect: RunDialect) -> None:
        self.parts: list[Part] = []
        self._dialect = dialect
        self._styles: dict[str, Style] = {}
        self._fields: list[_Field] = []  # that are open in the element that is read

    def read(self, nodes: Iterable[Node], style: Style | None, depth: int) -> None:
        """Read neighboring elements.

        Args:
            nodes: The elements.
            style: Of the run that they are in; None: of none.
            depth: How many elements around them have been read.
        """
        for node in nodes:
            name = local_name(node)
            role = self._dialect.roles.get(name)
            piece = Piece(node, style)
            if depth > MAX_DEPTH:
                self._put("point", "", piece)
            elif name == "r":
                self.read(node, self._read_style(node), depth + 1)
            elif name == "t":
                self._read_text(node, style or _BARE)
            elif role in ("transparent", "holder"):
                self.read(node, style, depth + 1)
            elif role == "wrapper":
                self._read_wrapper(node, style, depth)
            elif role == "break":
                self._put("line", "", piece)
            elif role == "hyphen":
                style = style or Style("")
                self.parts.append(Part("text", (Piece(node, style),), "-", key=style.key))
            elif role in ("formula", "field"):
                self.parts.append(make_kept((piece,), _read_texts(node)))
            elif name == "fldChar":
                self._read_field_mark(piece, find_attribute(node, "fldCharType"))
            elif name == "instrText":
                self._put("point", "", piece)
                if self._fields and not self._fields[-1].separate:
                    self._fields[-1].instruction += node.text or ""
            elif name.removesuffix("Start") in self._dialect.ranges:
                self._put("open", name.removesuffix("Start") + find_attribute(node, "id"), piece)
            elif name.removesuffix("End") in self._dialect.ranges:
                self._put("close", name.removesuffix("End") + find_attribute(node, "id"), piece)
            elif role is None and not (name == "rPr" and style):
                self._put("point", "", piece)

    def _read_style(self, run: Node) -> Style:
        """Return the style of a run; those that look the same are one."""
        properties = next((child for child in run if local_name(child) == "rPr"), None)
        key = "" if properties is None else intern(_describe_content(properties))
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

    def _read_wrapper(self, node: Node, style: Style | None, depth: int) -> None:
        name = local_name(node)
        field = _Field(0, instruction=find_attribute(node, "instr"))
        if name == "fldSimple" and field.kind not in _TEXT_FIELDS:
            self.parts.append(make_kept((Piece(node, style),), _read_texts(node)))
            return
        holder = next(iter(self._dialect.find(node, "holder")), node)
        attached = self._dialect.find(node, "attached")
        without = {"id"} if name in self._dialect.numbered else ()
        key = "" if attached else name + _describe(node, without)
        opened = Opened(node, holder, tuple(attached) if holder is node else ())
        self.parts.append(Part("open", (opened,), name=name, is_element=True, key=key))
        fields, self._fields = self._fields, []
        self.read(node, style, depth + 1)
        self._fields = fields
        self.parts.append(Part("close", (END,), name=name, is_element=True))


def _join_field(parts: Sequence[Part], field: _Field) -> list[Part]:
    """Return the parts of a field as an element around its result, or as one part."""
    if not field.separate:
        return [Part("point", _join_pieces(parts))]
    behind = field.separate + 1 - field.start
    result = parts[behind:-1]
    texts = [" " if part.kind == "line" else part.text for part in result]
    is_form = field.kind == _FORM and any(map(is_translatable, texts))
    if field.kind not in _TEXT_FIELDS and not is_form:
        return [make_kept(_join_pieces(parts), "".join(texts))]
    opening = Part("open", _join_pieces(parts[:behind]), name=_FIELD, is_element=True)
    return [opening, *result, parts[-1]._replace(is_element=True)]


def _join_pieces(parts: Sequence[Part]) -> tuple[Any, ...]:
    return tuple(piece for part in parts for piece in part.source)


def _read_texts(node: Node) -> str:
    """Return the text that an element shows."""
    return " ".join("".join(node.itertext()).split())


def _describe_content(node: Node) -> str:
    """Return the attributes and elements of an element, without those that are not seen."""
    attributes = _describe(node, _NOISE)
    inner = [
        f"<{local_name(child)}{_describe_content(child)}>"
        for child in node
        if local_name(child) not in _NOISE
    ]
    return attributes + "".join(inner)


def _describe(node: Node, without: Iterable[str]) -> str:
    """Return the attributes of an element."""
    return "".join(
        f" {name.rpartition('}')[2]}={value!r}"
        for name, value in node.items()
        if name.rpartition("}")[2] not in without
    )


class _Writer(ContentWriter):
    """Writes a paragraph; neighboring text of one style becomes one run."""

    def __init__(self, dialect: RunDialect, *paragraph: Any) -> None:
        super().__init__(*paragraph)
        self._dialect = dialect
        self._run: Node | None = None  # or what holds text without a run
        self._key = ""  # of its style

    def _write_text(self, text: str) -> None:
        run = self._start_run(self._open[-1][1] or Style(""))
        if not len(run) or local_name(run[-1]) != "t":
            SubElement(run, f"{self._namespace}t").text = ""
        run[-1].text += self._dialect.write(text)
        run[-1].attrib.pop(_SPACE, None)
        if self._dialect.is_trimmed and run[-1].text != run[-1].text.strip():
            run[-1].set(_SPACE, "preserve")

    def _make_break(self) -> Iterable[Piece]:
        if not self._dialect.new_break:
            self._write_text("\n")
            return ()
        style = (self._open[-1][1] or Style("")) if self._dialect.has_breaks_in_runs else None
        return (Piece(self._holder.makeelement(self._namespace + self._dialect.new_break), style),)

    def _append(self, node: Node, style: Style | None) -> None:
        node.tail = None
        self._start_run(style).append(node)

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


def read_cell(text: str) -> str:
    """Return the text of a cell, in which ``_x000D_`` is a carriage return."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def _write_cell(text: str) -> str:
    return text.replace("\r", "_x000D_")


WORD = RunDialect(
    roles={
        **dict.fromkeys(("br", "cr", "ptab", "tab"), "break"),
        **dict.fromkeys(("lastRenderedPageBreak", "proofErr", "rt", "rubyPr", "softHyphen"), "dropped"),
        **dict.fromkeys(("ruby", "rubyBase"), "transparent"),
        **dict.fromkeys(("bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "sdt", "smartTag"), "wrapper"),
        **dict.fromkeys(("customXmlPr", "sdtEndPr", "sdtPr", "smartTagPr"), "attached"),
        **dict.fromkeys(("oMath", "oMathPara"), "formula"),
        "pPr": "head", "sdtContent": "holder", "noBreakHyphen": "hyphen",
    },
    new_break="br",
    numbered=frozenset({"ins", "moveTo"}),
    ranges=frozenset({"bookmark", "commentRange", "moveFromRange", "moveToRange", "perm"}),
)  # fmt: skip
SLIDE = RunDialect(
    roles={"br": "break", "pPr": "head", "endParaRPr": "tail", "fld": "field"},
    new_break="br",
    has_breaks_in_runs=False,
    is_trimmed=False,
)
CELL = RunDialect(
    roles={"phoneticPr": "dropped", "rPh": "dropped"}, read=read_cell, write=_write_cell
)
