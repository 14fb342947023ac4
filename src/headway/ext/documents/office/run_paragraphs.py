"""Paragraphs made of runs: text with properties, as in word processing, slides and cells."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from lxml.etree import SubElement

from headway.ext.documents.blocks import MAX_DEPTH, Kind, Part, make_block, make_kept
from headway.ext.documents.office.fields import (
    FIELD,
    INSTRUCTION,
    SEPARATE,
    join_fields,
    shows_text,
)
from headway.ext.documents.office.places import Place, place_block
from headway.ext.documents.office.runs import (
    END,
    ContentWriter,
    Opened,
    Piece,
    Style,
    join_runs,
    mark_styles,
)
from headway.ext.documents.office.xml_tree import Node, find_attribute, local_name
from headway.ext.documents.paragraph import Translated

_BARE = Style("bare")  # of text that stands in no run, in a cell
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_SPACES = re.compile(r"[\t\n\r]")
_ESCAPE = re.compile(r"_x000([9ADad])_")
# What two runs may differ in and still look the same: language, marks of the spelling check, revisions.
_NOISE = frozenset({
    "lang", "noProof", "webHidden", "rsid", "rsidR", "rsidRPr", "altLang", "dirty", "err", "smtClean", "smtId", "bmk",
})  # fmt: skip


_FIELD_MARKS: dict[str, tuple[Kind, str]] = {
    "begin": ("open", FIELD), "separate": ("point", SEPARATE), "end": ("close", FIELD),
}  # fmt: skip


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


def read_paragraph(dialect: RunDialect, node: Node, first: int = 0) -> Place:
    """Return a paragraph.

    Args:
        dialect: How the format writes it.
        node: Its element.
        first: How many elements at its beginning are no part of the text.
    """
    reader = _Reader(dialect)
    reader.read(node[first:], None, 0)
    parts, style = mark_styles(join_runs(join_fields(reader.parts)))
    head = [*node[:first], *reader.find(node, "head")]
    tail = reader.find(node, "tail")
    block = make_block(parts)

    def write(translated: Translated) -> None:
        _Writer(dialect, node, style, head, tail).write(block, translated)

    return place_block(block, write)


class _Reader:
    """Reads the content of a paragraph."""

    def __init__(self, dialect: RunDialect) -> None:
        self.parts: list[Part] = []
        self._dialect = dialect
        self._styles: dict[str, Style] = {}

    def find(self, node: Node, role: str) -> list[Node]:
        """Return the children of an element that have a role."""
        return [child for child in node if self._dialect.roles.get(local_name(child)) == role]

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
                self._put(
                    *_FIELD_MARKS.get(find_attribute(node, "fldCharType"), ("point", "")), piece
                )
            elif name == "instrText":
                self.parts.append(Part("point", (piece,), name=INSTRUCTION, key=node.text or ""))
            elif name.removesuffix("Start") in self._dialect.ranges:
                self._put("open", name.removesuffix("Start") + find_attribute(node, "id"), piece)
            elif name.removesuffix("End") in self._dialect.ranges:
                self._put("close", name.removesuffix("End") + find_attribute(node, "id"), piece)
            elif role is None and not (name == "rPr" and style):
                self._put("point", "", piece)

    def _read_style(self, run: Node) -> Style:
        """Return the style of a run; those that look the same are one."""
        properties = next((child for child in run if local_name(child) == "rPr"), None)
        key = "" if properties is None else _describe_content(properties)
        return self._styles.setdefault(key, Style(key, properties))

    def _put(self, kind: Kind, name: str, piece: Piece) -> None:
        self.parts.append(Part(kind, (piece,), name=name))

    def _read_text(self, node: Node, style: Style) -> None:
        text = self._dialect.read("".join(node.itertext()))
        if self._dialect.is_trimmed and node.get(_SPACE) != "preserve":
            text = text.strip(" \t\r\n")
        self.parts.append(Part("text", (Piece(node, style),), text, key=style.key))

    def _read_wrapper(self, node: Node, style: Style | None, depth: int) -> None:
        name = local_name(node)
        if name == "fldSimple" and not shows_text(find_attribute(node, "instr")):
            self.parts.append(make_kept((Piece(node, style),), _read_texts(node)))
            return
        holder = next(iter(self.find(node, "holder")), node)
        attached = self.find(node, "attached")
        without = {"id"} if name in self._dialect.numbered else ()
        key = "" if attached else name + _describe(node, without)
        opened = Opened(node, holder, tuple(attached) if holder is node else ())
        self.parts.append(Part("open", (opened,), name=name, is_element=True, key=key))
        self.read(node, style, depth + 1)
        self.parts.append(Part("close", (END,), name=name, is_element=True))


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
        self._text: list[
            str
        ] = []  # that is not written yet: a run has one text element in most formats

    def _write_text(self, text: str) -> None:
        self._start_run(self._style or Style(""))
        self._text.append(text)

    def _make_break(self) -> Iterable[Piece]:
        if not self._dialect.new_break:
            self._write_text("\n")
            return ()
        style = (self._style or Style("")) if self._dialect.has_breaks_in_runs else None
        node = self._open[0][0].makeelement(self._namespace + self._dialect.new_break)
        return (Piece(node, style),)

    def _append(self, node: Node, style: Style | None) -> None:
        self._start_run(style)
        self._flush()
        node.tail = None
        (self._open[-1][0] if self._run is None else self._run).append(node)

    def _start_run(self, style: Style | None) -> None:
        """Continue the run, or end it and start another one; None: only end it."""
        if style is not None and self._run is not None and style.key == self._key:
            return
        self._end_text()
        if style is None:
            return
        self._run, self._key = self._open[-1][0], style.key
        if style is not _BARE:
            self._run = SubElement(self._run, f"{self._namespace}r")
            if style.properties is not None:
                properties = deepcopy(style.properties)
                properties.tail = None
                self._run.append(properties)

    def _end_text(self) -> None:
        self._flush()
        self._run = None

    def _flush(self) -> None:
        text, self._text = "".join(self._text), []
        if text:
            node = SubElement(self._run, f"{self._namespace}t")
            if self._dialect.is_trimmed and text != text.strip():
                node.set(_SPACE, "preserve")
            node.text = self._dialect.write(text)


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
