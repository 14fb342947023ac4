"""Which parts of OpenDocument (.odt, .odp, .ods) have text, and where it stands in them."""

import re
from collections.abc import Iterable, Iterator

from headway.errors import HeadwayError
from headway.ext.documents.office.dialects import ODF
from headway.ext.documents.office.directions import turn_odf
from headway.ext.documents.office.package import NO_MAIN_PART, Package
from headway.ext.documents.office.workbook import QUOTED, ComparedTexts
from headway.ext.documents.office.xml_paragraphs import describe_content
from headway.ext.documents.office.xml_part import Grammar
from headway.ext.documents.office.xml_tree import Node, find_attribute, namespace
from headway.ext.documents.table import name_column

_KINDS = {".odt": "text", ".odp": "presentation", ".ods": "spreadsheet"}
CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
# Elements of forms.
_CONTROLS = ("button", "checkbox", "column", "fixed-text", "frame", "item", "option", "radio")
_PARTS = re.compile(r"(?:[^/]+/)?(?:content|styles|meta)\.xml")  # also of charts in the document


def _has_no_words(cell: Node) -> bool:
    """Return whether a cell has a number or a formula."""
    is_text = find_attribute(cell, "value-type") in ("", "string")
    return not is_text or bool(find_attribute(cell, "formula"))


def _is_placeholder(frame: Node) -> bool:
    """Return whether the text of a frame is never shown."""
    return find_attribute(frame, "placeholder") == "true"


def unify_styles(root: Node) -> None:
    """Give all spans that look the same the same style, and spans without properties no style.

    Programs give words that were written at different times different styles, which are equal.
    """
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    for style in root.iterfind("{*}automatic-styles/{*}style"):
        if find_attribute(style, "family") != "text":
            continue
        name, parent = find_attribute(style, "name"), find_attribute(style, "parent-style-name")
        look = parent + "".join(map(describe_content, style))
        same[name] = first.setdefault(look, name) if look else ""
    for span in root.iter("{*}span"):
        key = f"{namespace(span)}style-name"
        own = span.get(key, "")
        if same.get(own, own):
            span.set(key, same.get(own, own))
        else:
            span.attrib.pop(key, None)


_GRAMMAR = Grammar(
    dict.fromkeys(("p", "h"), ODF),
    plain=frozenset({
        "svg:title", "svg:desc", "table:title", "table:desc", "meta/title", "meta/subject", "meta/description", "meta/keyword",
        "presentation:header-decl", "presentation:footer-decl", "text:index-title-template",
    }),
    attributes={
        "table-cell": ("string-value",),
        # Of entries of an index, which stand in it and not in the text.
        **dict.fromkeys(("alphabetical-index-mark", "alphabetical-index-mark-start"), ("string-value", "key1", "key2")),
        **dict.fromkeys(("toc-mark", "user-index-mark"), ("string-value",)),
        **dict.fromkeys(("a", "error-message", "help-message"), ("title",)),
        **dict.fromkeys(_CONTROLS, ("label",)),
    },
    skipped={
        "tracked-changes": lambda node: True, "frame": _is_placeholder,
        **dict.fromkeys(("table-cell", "covered-table-cell"), _has_no_words),
    },
    resumed=frozenset({"annotation"}),
    languages={"text-properties": "language"},
    codes=frozenset({"meta/language"}),
    prepare=unify_styles,
    turn=turn_odf,
)  # fmt: skip


def find_odf_parts(package: Package, kind: str) -> Iterator[tuple[str, Grammar]]:
    """Yield the names of the parts with text or a language, each with its grammar.

    Raises:
        HeadwayError: If the package is no file of this kind, has no main part, or is encrypted.
    """
    found = package.read("mimetype").decode("ascii", "replace") if "mimetype" in package else ""
    expected = f"application/vnd.oasis.opendocument.{_KINDS[kind]}"
    # Templates, master documents and documents made from web pages have a longer type, such as text-web.
    is_other = found and not re.fullmatch(rf"{re.escape(expected)}(-[a-z-]+)?", found.strip())
    if is_other or not (found or CONTENT in package):
        raise HeadwayError(f"is no {kind} file, although its name says so")
    if CONTENT not in package:
        raise HeadwayError(NO_MAIN_PART)
    if _MANIFEST in package and b"encryption-data" in package.read(_MANIFEST):
        raise HeadwayError("is encrypted: save it without a password")
    yield from ((name, _GRAMMAR) for name in filter(_PARTS.fullmatch, package.names))


def read_comparisons(root: Node) -> ComparedTexts:
    """Return the texts with which a spreadsheet compares those of its cells."""
    found = ComparedTexts()
    for formula in _find_values(root, "formula", "expression"):
        found.add_formula(formula.partition("=")[2])
    for condition in _find_values(root, "condition"):
        found.add(QUOTED.findall(condition))
    for node in root.iter(
        "{*}condition", "{*}filter-condition", "{*}data-pilot-field", "{*}data-pilot-member"
    ):
        for name in ("value", "source-field-name", "name"):
            value = find_attribute(node, name)
            found.add([value, *QUOTED.findall(value)])
    return found


def _find_values(root: Node, *names: str) -> Iterable[str]:
    """Return the values of all attributes of some names, without prefixes."""
    return root.xpath(" | ".join(f"//@*[local-name()='{name}']" for name in names))


def read_odf_cells(package: Package) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of the cells of a spreadsheet; see `headway.ext.documents.office.workbook.read_cells`."""
    for table in package.parse(CONTENT).iter("{*}table"):
        row = 0
        for line in table.iter("{*}table-row"):
            row, column = row + _count(line, "number-rows-repeated"), 0
            for cell in line:
                column += _count(cell, "number-columns-repeated")
                for node in () if _has_no_words(cell) else cell.iterfind("{*}p"):
                    name = f"{find_attribute(table, 'name')}!{name_column(column)}{row}"
                    yield CONTENT, name, "".join(node.itertext())


def _count(node: Node, name: str) -> int:
    count = find_attribute(node, name)
    return int(count) if count.isdecimal() and len(count) < 8 else 1
