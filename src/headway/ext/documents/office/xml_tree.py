"""The parts of office files and books as trees of XML."""

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import IO, Any, TypeAlias

from lxml.etree import XMLParser, XMLSyntaxError, fromstring, iterparse

from headway.errors import HeadwayError

Node: TypeAlias = Any  # an element; lxml has no types
_DECLARATIONS = re.compile(rb"<!DOCTYPE[^<>\[]*\[")
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST_REASON = 120  # characters


_ENTRIES = ("row", "si")  # of which a part may have many
_SAFE = {"resolve_entities": False, "no_network": True, "load_dtd": False, "collect_ids": False}


def parse_xml(data: bytes) -> Node:
    """Return the root of a part, without comments; nothing outside of the part is read.

    Args:
        data: The content of the part.

    Raises:
        HeadwayError: If it is not well-formed, declares entities, or nests more than 256 elements.
    """
    check_declarations(data)
    try:
        return fromstring(data, XMLParser(remove_comments=True, **_SAFE))
    except XMLSyntaxError as error:
        raise _describe(error) from None


def check_declarations(data: bytes) -> None:
    """Refuse declarations of entities before they are parsed."""
    if _DECLARATIONS.search(data.replace(b"\0", b"")):
        raise HeadwayError("declares entities, which are not read")


def _describe(error: XMLSyntaxError) -> HeadwayError:
    reason = (error.msg or "").partition("\n")[0][:_LONGEST_REASON]
    return HeadwayError(f"is no well-formed XML: {reason}")


def iterate_xml(data: bytes, *names: str) -> Iterator[Node]:
    """Yield the elements of a large part that have these names, each at its end; rows and shared strings are forgotten then.

    Args:
        data: The content of the part.
        names: Names of elements, without prefixes.

    Raises:
        HeadwayError: If the part is not well-formed, or declares entities.
    """
    check_declarations(data)
    tags = [f"{{*}}{name}" for name in names]
    try:
        for _, node in iterparse(BytesIO(data), tag=tags, remove_comments=True, **_SAFE):
            yield node
            if local_name(node) in _ENTRIES:
                node.clear()
                while node.getprevious() is not None:
                    del node.getparent()[0]
    except XMLSyntaxError as error:
        raise _describe(error) from None


def write_xml(root: Node, file: IO[bytes]) -> None:
    """Write the content of a part to a file, in pieces."""
    tree = root.getroottree()
    found = tree.docinfo
    encoding = found.encoding or "UTF-8"
    tree.write(file, xml_declaration=True, encoding=encoding, standalone=found.standalone)


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
