"""Which parts of OpenDocument (.odt, .odp, .ods) have text, and where it stands in them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from headway.errors import HeadwayError
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.odf_directions import OdfDirection
from headway.ext.documents.office.odf_text import OdfReader, find_equal_styles
from headway.ext.documents.office.package import NO_MAIN_PART, Package, name_member
from headway.ext.documents.xml_tokens import XmlToken

_KINDS = {".odt": "text", ".odp": "presentation", ".ods": "spreadsheet"}
_MANIFEST = "META-INF/manifest.xml"
# Elements of forms.
_CONTROLS = ("button", "checkbox", "column", "fixed-text", "frame", "item", "option", "radio")
_PARTS = re.compile(r"(?:[^/]+/)?(?:content|styles|meta)\.xml")  # also of charts in the document


def _is_skipped(token: XmlToken, source: str) -> bool:
    """Return whether an element is deleted text, a number, a formula, or text that is never shown."""
    if token.name == "tracked-changes":
        return True
    if token.name == "frame":
        return 'presentation:placeholder="true"' in token.source
    if token.name not in ("table-cell", "covered-table-cell"):
        return False
    attributes = token.attributes
    return (
        attributes.get("office:value-type", "string") != "string" or "table:formula" in attributes
    )


_GRAMMAR = Grammar(
    plain=frozenset({
        "svg:title", "svg:desc", "table:title", "table:desc", "meta/title", "meta/subject", "meta/description", "meta/keyword",
        "presentation:header-decl", "presentation:footer-decl", "text:drop-down",
        "text:index-title-template",
    }),
    attributes={
        "table-cell": ("string-value",),
        # Of entries of an index, which stand in it and not in the text.
        **dict.fromkeys(("alphabetical-index-mark", "alphabetical-index-mark-start"), ("string-value", "key1", "key2")),
        **dict.fromkeys(("toc-mark", "user-index-mark"), ("string-value",)),
        **dict.fromkeys(("a", "error-message", "help-message"), ("title",)),
        **dict.fromkeys(_CONTROLS, ("label",)),
        "label": ("value",),  # of a drop-down list
    },
    is_skipped=_is_skipped,
    resumed=frozenset({"annotation"}),
    languages={"text-properties": "fo:language"},
    codes=frozenset({"meta/language"}),
    make_direction=OdfDirection,
)  # fmt: skip


def find_pivot_fields(package: Package, kind: str) -> frozenset[str]:
    """Return the headers of a spreadsheet's columns that its pivot tables name; they stay."""
    name = "content.xml"
    if kind != ".ods" or "data-pilot-field" not in package.read_xml(name):
        return frozenset()
    fields = package.read_tags(name, "data-pilot-field")
    return frozenset(field.attributes.get("table:source-field-name", "") for field in fields)


def find_odf_parts(package: Package, kind: str) -> Iterator[tuple[str, Grammar]]:
    """Yield the names of the parts with text or a language, each with its grammar.

    Raises:
        HeadwayError: If the package is no file of this kind, has no main part, or is encrypted.
    """
    found = package.read("mimetype").decode("ascii", "replace") if "mimetype" in package else ""
    expected = f"application/vnd.oasis.opendocument.{_KINDS[kind]}"
    # Templates, master documents and documents made from web pages have a longer type, such as text-web.
    is_other = found and not re.fullmatch(rf"{re.escape(expected)}(-[a-z-]+)?", found.strip())
    if is_other or not (found or "content.xml" in package):
        raise HeadwayError(f"is no {kind} file, although its name says so")
    if "content.xml" not in package:
        raise HeadwayError(NO_MAIN_PART)
    if _MANIFEST in package and b"encryption-data" in package.read(_MANIFEST):
        raise HeadwayError("is encrypted: save it without a password")
    for name in package.names:
        if _PARTS.fullmatch(name):
            source = package.read_xml(name)
            with name_member(name):
                read = partial(OdfReader, find_equal_styles(source))
            yield name, replace(_GRAMMAR, paragraphs={"p": read, "h": read})
