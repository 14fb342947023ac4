"""Well-formed XML as a tree that knows its places in the source, so that a part can be replaced and the rest stays."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from headway.errors import HeadwayError
from headway.ext.documents.html.page import write_page_paragraph
from headway.ext.documents.marked_text import MarkedText, Part, make_kept
from headway.ext.documents.text_file import check_count

_DEEPEST = 256  # elements in each other
_DATA, _DATA_END = "<![CDATA[", "]]>"
# White space stands before each: a name is read once, from its beginning, and the time is linear in the length of the tag.
_ATTRIBUTE = re.compile(r"""(?<=\s)([^\s=<>"'/]++)\s*+=\s*+("[^"]*"|'[^']*')""")
_BEGINNING, _END = "<text>", "</text>"
# Of a document that is well-formed, where nothing ends at \Z and no tag has another "<": so the time is linear in any text.
_TOKEN = re.compile(
    r"""
    [^<]++ | <!--.*?(?:-->|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) | <\?.*?(?:\?>|\Z)
    | <!(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^"'>]++)*+(?:>|\Z)
    | (?P<closing></[^>]*+(?:>|\Z))
    | <(?P<name>[^\s/><]++)(?P<attributes>(?:"[^"<]*+"|'[^'<]*+'|[^"'/><]++)*+)(?P<empty>/?)>
    """,
    re.DOTALL | re.VERBOSE,
)
Kind = Literal["element", "text", "data", "other"]
_NOTHING: Mapping[str, str] = {}  # the attributes of most nodes


@dataclass(slots=True)
class XmlNode:
    """An element, or what stands between elements.

    Attributes:
        document: The source of the whole document.
        kind: The content of a CDATA section is "data"; a comment or the like is "other".
        start: Where the node starts.
        end: Where the node ends.
        name: Of an element, without its prefix; "": the whole document.
        prefix: Of an element, with the colon.
        attributes: Of an element.
        tag_end: Where the opening tag of an element ends.
        close: Where its closing tag starts.
        children: The nodes in an element.
    """

    document: str
    kind: Kind
    start: int
    end: int
    name: str = ""
    prefix: str = ""
    attributes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    tag_end: int = 0
    close: int = 0
    children: Sequence["XmlNode"] = ()

    @property
    def source(self) -> str:
        """The node as it stands in the file."""
        return self.document[self.start : self.end]

    @property
    def tag(self) -> str:
        """The opening tag of an element."""
        return self.document[self.start : self.tag_end]

    @property
    def closing(self) -> str:
        """The closing tag of an element; "" of an empty one, and of what is none."""
        return self.document[self.close : self.end] if self.kind == "element" else ""

    @property
    def is_text(self) -> bool:
        """Whether the node is text or a CDATA section."""
        return self.kind in ("text", "data")

    @property
    def text(self) -> str:
        """The text in the node."""
        if self.kind == "element":
            return "".join(child.text for child in self.children)
        if self.kind == "data":
            return self.source[len(_DATA) : -len(_DATA_END)]
        return html.unescape(self.source) if self.kind == "text" else ""

    def iter(self, *names: str) -> Iterator["XmlNode"]:
        """Yield this element and those in it that have one of some names."""
        if self.name in names:
            yield self
        for child in self.children:
            yield from child.iter(*names)

    def find(self, name: str) -> "XmlNode | None":
        """Return the first child of a name."""
        return next((child for child in self.children if child.name == name), None)


def parse_source(source: str) -> tuple[XmlNode, XmlNode]:
    """Return an XML document, an element without tags around all that is in it, and its root.

    Raises:
        HeadwayError: If the document is not well-formed, declares entities, nests too deeply, or has too many tags.
    """
    check_count(source.count("<"), "tags")
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = _refuse_entities
    try:
        parser.Parse(source.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise HeadwayError(f"is no well-formed XML: line {error.lineno}: {reason}") from None
    document = XmlNode(source, "element", 0, len(source), close=len(source))
    path = [(document, list[XmlNode]())]  # the open elements, and what has been read of them
    for found in _TOKEN.finditer(source):
        if found["closing"]:
            node, children = path.pop()
            node.close, node.end, node.children = *found.span(), children or ()
            continue
        is_outside = len(path) == 1 and not found["name"]
        node = XmlNode(source, "other", *found.span()) if is_outside else _make_node(found)
        path[-1][1].append(node)
        if found["name"] and not found["empty"]:
            path.append((node, []))
        if len(path) > _DEEPEST:
            raise HeadwayError(f"nests more than {_DEEPEST} elements")
    [(_, document.children)] = path
    return document, next(node for node in document.children if node.name)


def _refuse_entities(name: str, system: str | None, public: str | None, has_subset: int) -> None:
    if has_subset:
        raise HeadwayError("declares entities, which are not read")


def _make_node(found: re.Match[str]) -> XmlNode:
    """Return what a token is, or begins."""
    source, (start, end) = found.string, found.span()
    if name := found["name"]:
        own = name.rpartition(":")[2]
        values = _ATTRIBUTE.findall(source, found.start("attributes"), found.end("attributes"))
        attributes = {key: html.unescape(value[1:-1]) for key, value in values}
        return XmlNode(
            source, "element", start, end, own, name.removesuffix(own), attributes, end, end
        )
    is_text = not found[0].startswith("<")
    kind: Kind = "text" if is_text else "data" if found[0].startswith(_DATA) else "other"
    return XmlNode(source, kind, start, end)


def _find_attributes(tag: str) -> dict[str, tuple[int, int]]:
    """Return where the values of a tag's attributes stand in its source, with their quotes."""
    return {found[1]: found.span(2) for found in _ATTRIBUTE.finditer(tag)}


def set_attribute(tag: str, name: str, value: str) -> str:
    """Return the source of a tag with another value of an attribute."""
    if span := _find_attributes(tag).get(name):
        return f'{tag[: span[0]]}"{html.escape(value)}"{tag[span[1] :]}'
    end = len(tag) - (2 if tag.endswith("/>") else 1)
    return f'{tag[:end].rstrip()} {name}="{html.escape(value)}"{tag[end:]}'


def remove_attribute(tag: str, name: str) -> str:
    """Return the source of a tag without an attribute."""
    pattern = rf"(?<!\s)\s*+{_ATTRIBUTE.pattern}"
    return re.sub(pattern, lambda found: "" if found[1] == name else found[0], tag)


@dataclass(frozen=True)
class XmlTags:
    """What the tags of a text mean.

    Attributes:
        splitting: Names of elements that stand between sentences.
        inline: Names of elements that stand inside sentences.
        ignored: Names of elements whose text is not translated.
        is_outlined: Whether other elements count as splitting where no text stands beside them.
    """

    splitting: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    is_outlined: bool = True


class XmlText(MarkedText):
    """A text with tags of XML: every tag comes back once, around the translations of its words.

    Args:
        source: A text with tags, or a whole document.
        tags: What the tags mean.

    Raises:
        HeadwayError: If the text is not well-formed, declares entities, or has too many tags.
    """

    def __init__(self, source: str, tags: XmlTags) -> None:
        if source.lstrip().startswith(("<?xml", "<!DOCTYPE")):
            nodes = parse_source(source)[0].children
        else:
            nodes = parse_source(_BEGINNING + source + _END)[1].children
        super().__init__([*_read_parts(nodes, tags, tags.is_outlined)], write_page_paragraph)


def _read_parts(nodes: Sequence[XmlNode], tags: XmlTags, is_outlined: bool) -> Iterator[Part]:
    """Yield text and tags of neighbors; splitting tags, which stay as they are, are breaks.

    Args:
        nodes: The neighbors.
        tags: What tags mean.
        is_outlined: Whether other elements count as splitting unless text stands beside them.
    """
    is_outlined = is_outlined and not any(node.is_text and node.text.strip() for node in nodes)
    for node in nodes:
        is_splitting = node.name in tags.splitting or (
            is_outlined and node.kind == "element" and node.name not in tags.inline
        )
        if node.is_text:
            yield Part("text", node.source, node.text)
        elif node.closing and node.name not in tags.ignored:
            yield Part("break" if is_splitting else "open", node.tag, name=node.name)
            yield from _read_parts(node.children, tags, tags.is_outlined and is_splitting)
            yield Part("break" if is_splitting else "close", node.closing, name=node.name)
        else:
            yield Part("break", node.source) if is_splitting else make_kept(node.source, node.text)
