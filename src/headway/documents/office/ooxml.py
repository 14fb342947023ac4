"""Which parts of Office Open XML (.docx, .pptx, .xlsx) have text, and where it stands in them."""

import re
from collections.abc import Iterator

from headway.documents.office.dialects import CELL, SLIDE, WORD
from headway.documents.office.grammar import Grammar
from headway.documents.office.package import Package
from headway.documents.xml_tokens import XmlToken
from headway.errors import HeadwayError

_TYPES = "[Content_Types].xml"
_MAIN = {
    ".docx": "wordprocessingml.document.main",
    ".pptx": "presentationml.presentation.main",
    ".xlsx": "spreadsheetml.sheet.main",
}
# Alternative texts; old drawings have them in `alt`, and texts in the shape of a picture in `string`.
_PICTURES = {
    "docPr": ("descr", "title"),
    "cNvPr": ("descr", "title"),
    "shape": ("alt",),
    "textpath": ("string",),
}
_TITLES = frozenset({
    "coreProperties/title", "coreProperties/subject", "coreProperties/description", "coreProperties/keywords",
})  # fmt: skip


def _is_deleted(token: XmlToken, source: str) -> bool:
    """Return whether text in an element was deleted or moved away."""
    return token.name in ("del", "moveFrom")


def _is_placeholder(token: XmlToken, source: str) -> bool:
    """Return whether an element is a shape of a slide layout whose text is never shown."""
    if token.name != "sp":
        return False
    end = source.find(f"</{token.prefix}sp>", token.end)
    return f"<{token.prefix}ph" in source[token.end : max(end, token.end)]


_TEXT = Grammar(
    {"p": WORD}, attributes=_PICTURES, is_skipped=_is_deleted, languages={"lang": "w:val"}
)
_SLIDE = Grammar(
    {"p": SLIDE},
    frozenset({"cm/text", "pt/v", "tx/v"}),
    _PICTURES,
    lambda token, source: token.name in ("numCache", "numLit"),
    languages={"*": "lang"},
)
_LAYOUT = Grammar(
    {"p": SLIDE}, attributes=_PICTURES, is_skipped=_is_placeholder, languages={"*": "lang"}
)
_SHEET = Grammar(
    {"is": CELL},
    attributes={
        "dataValidation": ("promptTitle", "prompt", "errorTitle", "error"),
        "hyperlink": ("tooltip",),
    },
)
_GRAMMARS = {  # by the ends of types of content, without "+xml"
    "wordprocessingml.document.main": _TEXT,
    "wordprocessingml.document.glossary": _TEXT,
    "wordprocessingml.header": _TEXT,
    "wordprocessingml.footer": _TEXT,
    "wordprocessingml.footnotes": _TEXT,
    "wordprocessingml.endnotes": _TEXT,
    "wordprocessingml.comments": _TEXT,
    "wordprocessingml.styles": Grammar(languages={"lang": "w:val"}),
    "presentationml.presentation.main": Grammar(languages={"*": "lang"}),
    "presentationml.slide": _SLIDE,
    "presentationml.notesSlide": _SLIDE,
    "presentationml.comments": _SLIDE,
    "powerpoint.comments": _SLIDE,
    "presentationml.slideLayout": _LAYOUT,
    "presentationml.slideMaster": _LAYOUT,
    "drawingml.chart": _SLIDE,
    "drawingml.chartshapes": _SLIDE,
    "drawingml.diagramData": _SLIDE,
    "drawingml.diagramDrawing": _SLIDE,
    "officedocument.drawing": _SLIDE,
    "spreadsheetml.sharedStrings": Grammar({"si": CELL}),
    "spreadsheetml.worksheet": _SHEET,
    "spreadsheetml.comments": Grammar({"text": CELL}),
    "ms-excel.threadedcomments": Grammar(plain=frozenset({"threadedComment/text"})),
    "package.core-properties": Grammar(plain=_TITLES),
}
# A worksheet without any of these has no text of its own, only numbers and shared strings.
_SIGNS_OF_TEXT = re.compile(rb"<(?:\w+:)?is\b|<(?:\w+:)?dataValidation\b|tooltip=")


def find_ooxml_parts(package: Package, suffix: str) -> Iterator[tuple[str, Grammar]]:
    """Yield the names of the parts with text or a language, each with its grammar.

    Raises:
        HeadwayError: If the package is no file of this kind.
    """
    types = _read_types(package)
    if not any(_MAIN[suffix] in kind for kind in types.values()):
        raise HeadwayError(f"is no {suffix} file, although its name says so")
    for name in package.names:
        kind = types.get(name, "")
        for end, grammar in _GRAMMARS.items():
            if not kind.removesuffix("+xml").endswith(end):
                continue
            if grammar is not _SHEET or _SIGNS_OF_TEXT.search(package.read(name)):
                yield name, grammar


def find_fixed_texts(package: Package) -> frozenset[str]:
    """Return the texts that a spreadsheet also uses as names: headers of tables and fields of pivot tables.

    A program calls a file damaged in which the cell and the name differ.
    """
    found: set[str] = set()
    for name, kind in _read_types(package).items():
        is_table = kind.endswith(("spreadsheetml.table+xml", "pivotCacheDefinition+xml"))
        if not is_table or name not in package:
            continue
        tags = package.read_tags(name, "tableColumn", "cacheField")
        found.update(tag.attributes.get("name", "") for tag in tags)
    return frozenset(found)


def _read_types(package: Package) -> dict[str, str]:
    """Return the type of the content of each member that has one."""
    if _TYPES not in package:
        raise HeadwayError(f"is no office file: it has no member {_TYPES}")
    defaults: dict[str, str] = {}
    types: dict[str, str] = {}
    for tag in package.read_tags(_TYPES, "Override", "Default"):
        attributes = tag.attributes
        kind = attributes.get("ContentType", "")
        if tag.name == "Override":
            types[attributes.get("PartName", "").removeprefix("/")] = kind
        else:
            defaults[attributes.get("Extension", "").lower()] = kind
    for name in package.names:
        if name not in types:
            types[name] = defaults.get(name.rpartition(".")[2].lower(), "")
    return types
