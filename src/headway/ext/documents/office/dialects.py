"""How the formats of office files write paragraphs: a table for each.

Paragraphs of Office Open XML are made of runs, text with properties; those of OpenDocument are text with spans, in which
several spaces are one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headway.ext.documents.marked_text import Kind
from headway.ext.documents.office.xml_tree import Node, find_attribute, local_name

_SPACES = re.compile(r"[\t\n\r]")
_ESCAPE = re.compile(r"_x000([9ADad])_")
_RANGE = re.compile(r"(.+?)-?(start|end)", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How a format writes paragraphs.

    Attributes:
        roles: What elements are, by their names: a "break" is a line break or tab; a "head" or a "tail" stands before or
            behind the content; a "wrapper" stands around runs, its content in a "holder", and what is "attached" to it
            describes it, and so does a "reference", but two beside each other stay two; of a "transparent" element around
            runs or text a translation lacks the tags; a "formula" stays as it is, and stands for a word, as a "field" does;
            a "hyphen" is one, and "spaces" are as many as they say; what is "dropped" says nothing about a translation.
        ranges: Names of pairs of elements that mark a range, without the words for its start and its end.
        range_names: Attributes, of which the first that a mark has is equal at both ends of a range.
        is_mixed: Whether text stands directly in a paragraph and its elements, and an element without others that has no
            role is a field.
        is_trimmed: Whether space at the ends of a text counts only with ``xml:space="preserve"``.
        read: Returns what the characters of a text mean.
        write: Returns the characters of a text.
    """

    roles: Mapping[str, str]
    ranges: frozenset[str] = frozenset()
    range_names: Sequence[str] = ("id",)
    is_mixed: bool = False
    is_trimmed: bool = True
    read: Callable[[str], str] = lambda text: _SPACES.sub(" ", text)
    write: Callable[[str], str] = str

    def find(self, node: Node, role: str) -> list[Node]:
        """Return the children of an element that have a role."""
        return [child for child in node if self.roles.get(local_name(child)) == role]

    def name_role(self, node: Node, name: str) -> str:
        """Return the role of an element; "" if it has none."""
        if self.is_mixed and name == "span" and not node.attrib:
            return "transparent"
        return self.roles.get(name, "field" if self.is_mixed and not len(node) else "")

    def name_range(self, node: Node, name: str) -> tuple[Kind, str] | None:
        """Return what an element does with a range, and the name of that; None: it marks none."""
        if name == "annotation" and find_attribute(node, "name"):  # a comment with an end
            name += "-start"
        found = _RANGE.fullmatch(name)
        if found is None or found[1] not in self.ranges:
            return None
        own = next(filter(None, (find_attribute(node, each) for each in self.range_names)), "")
        return "open" if found[2].lower() == "start" else "close", f"{found[1]} {own}"


def read_cell(text: str) -> str:
    """Return the text of a cell, in which ``_x000D_`` is a carriage return."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def _write_cell(text: str) -> str:
    return text.replace("\r", "_x000D_")


WORD = Dialect(
    roles={
        **dict.fromkeys(("br", "cr", "ptab", "tab"), "break"),
        **dict.fromkeys(("lastRenderedPageBreak", "proofErr", "rt", "rubyPr", "softHyphen"), "dropped"),
        **dict.fromkeys(("ruby", "rubyBase"), "transparent"),
        **dict.fromkeys(("bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "sdt", "smartTag"), "wrapper"),
        **dict.fromkeys(("customXmlPr", "sdtEndPr", "sdtPr", "smartTagPr"), "attached"),
        **dict.fromkeys(("oMath", "oMathPara"), "formula"),
        "pPr": "head", "sdtContent": "holder", "noBreakHyphen": "hyphen",
    },
    ranges=frozenset({"bookmark", "commentRange", "moveFromRange", "moveToRange", "perm"}),
)  # fmt: skip
SLIDE = Dialect(
    roles={"br": "break", "pPr": "head", "endParaRPr": "tail", "fld": "field"},
    is_trimmed=False,
)
CELL = Dialect(roles={"phoneticPr": "dropped", "rPh": "dropped"}, read=read_cell, write=_write_cell)
ODF = Dialect(
    roles={
        **dict.fromkeys(("line-break", "tab"), "break"),
        **dict.fromkeys(("a", "span"), "wrapper"),
        **dict.fromkeys(("bookmark-ref", "content-control", "meta", "reference-ref", "text-input"), "reference"),
        **dict.fromkeys(("ruby", "ruby-base"), "transparent"),  # a translation has no readings of words
        **dict.fromkeys(("ruby-text", "soft-page-break"), "dropped"),
        "s": "spaces", "script": "",
    },
    ranges=frozenset({
        "alphabetical-index-mark", "annotation", "bookmark", "change", "reference-mark", "toc-mark", "user-index-mark",
    }),
    range_names=("name", "change-id", "id"),
    is_mixed=True,
)  # fmt: skip
