"""The parts of office files and books as trees of XML."""

import re
from functools import cache
from typing import Any, TypeAlias

from lxml.etree import XMLParser, XMLSyntaxError, fromstring, tostring

from headway.errors import HeadwayError

Node: TypeAlias = Any  # an element; lxml has no types
_DECLARATIONS = re.compile(rb"<!DOCTYPE[^<>\[]*\[")
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST_REASON = 120  # characters


def parse_xml(data: bytes, *, may_have_type: bool = False) -> Node:
    """Return the root of a part, without comments; nothing outside of the part is read.

    Args:
        data: The content of the part.
        may_have_type: Whether it may begin with a document type, without declarations.

    Raises:
        HeadwayError: If it is not well-formed, has a document type, or nests more than 256 elements.
    """
    # Declarations of entities are refused before they are parsed.
    if _DECLARATIONS.search(data.replace(b"\0", b"")):
        raise HeadwayError("declares entities, which are not read")
    parser = XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        root = fromstring(data, parser)
    except XMLSyntaxError as error:
        reason = (error.msg or "").partition("\n")[0][:_LONGEST_REASON]
        raise HeadwayError(f"is no well-formed XML: {reason}") from None
    if root.getroottree().docinfo.doctype and not may_have_type:
        raise HeadwayError("has a document type, which office files have not")
    return root


def write_xml(root: Node) -> bytes:
    """Return the content of a part."""
    tree = root.getroottree()
    found = tree.docinfo
    return tostring(
        tree, xml_declaration=True, encoding=found.encoding or "UTF-8", standalone=found.standalone
    )


@cache
def _split_tag(tag: object) -> tuple[str, str]:
    """Return the namespace of a name, in braces, and the name; none of what is no element."""
    space, brace, name = tag.rpartition("}") if isinstance(tag, str) else ("", "", "")
    return space + brace, name


def local_name(node: Node) -> str:
    """Return the name of an element without its prefix; "" of a processing instruction."""
    return _split_tag(node.tag)[1]


def namespace(node: Node) -> str:
    """Return the namespace of an element, in braces."""
    return _split_tag(node.tag)[0]


def name_element(node: Node) -> set[str]:
    """Return the names of an element as in `Grammar.plain`."""
    parent, name = node.getparent(), local_name(node)
    return {f"{'' if parent is None else local_name(parent)}/{name}", f"{node.prefix}:{name}"}


def find_key(node: Node, name: str) -> str:
    """Return the whole name of an attribute by its name without a prefix; "" if there is none."""
    return next((key for key, _ in node.items() if _split_tag(key)[1] == name), "")


def find_attribute(node: Node, name: str) -> str:
    """Return the value of an attribute by its name without a prefix; "" if there is none."""
    return next((value for key, value in node.items() if _split_tag(key)[1] == name), "")


def clean_text(text: str) -> str:
    """Return a text without characters that XML cannot have."""
    return _INVALID.sub("", text)
