"""Data in a Word document that its content controls show: Word replaces the text of a control by them."""

import re
from collections.abc import Iterable

from headway.ext.documents.office.package import Package, name_member
from headway.ext.documents.xml_tokens import XmlToken, iterate_xml

_STORE = re.compile(r"customXml/[^/]+\.xml")
_NOT_A_NAME = re.compile(r"^.*:|\[.*")


def find_stores(package: Package) -> list[str]:
    """Return the names of the parts with such data."""
    return [name for name in package.names if _STORE.fullmatch(name)]


def find_bound_elements(package: Package, parts: Iterable[str]) -> frozenset[str]:
    """Return the elements of the data that content controls show, as ``parent/element``: see `Grammar.plain`.

    Args:
        package: A document of Word.
        parts: The names of its parts with paragraphs.
    """
    found: set[str] = set()
    for part in parts:
        source = package.read_xml(part)
        if "dataBinding" in source:
            with name_member(part):
                found.update(_read_bindings(iterate_xml(source)))
    return frozenset(found)


def _read_bindings(tokens: Iterable[XmlToken]) -> Iterable[str]:
    """Yield the elements that controls of plain text show; others show dates, numbers or pictures."""
    path, is_text = "", False
    for token in tokens:
        if token.name == "sdtPr":
            if token.kind == "close" and is_text and path:
                *_, parent, name = ["", *path.split("/")]
                yield f"{_NOT_A_NAME.sub('', parent)}/{_NOT_A_NAME.sub('', name)}"
            path, is_text = "", False
        elif token.name == "dataBinding":
            path = token.attributes.get(f"{token.prefix}xpath", "")
        elif token.name == "text" and token.kind in ("open", "empty"):
            is_text = True
