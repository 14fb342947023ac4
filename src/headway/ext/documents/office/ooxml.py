"""Which parts of Office Open XML (.docx, .pptx, .xlsx) have text, and where it stands in them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from headway.errors import HeadwayError
from headway.ext.documents.office import sheet_headers
from headway.ext.documents.office.dialects import CELL, SLIDE, WORD
from headway.ext.documents.office.directions import (
    ON_OR_OFF,
    AttributeDirection,
    Directed,
    mirror,
)
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.package import NO_MAIN_PART, Package, name_member
from headway.ext.documents.office.sheet_comments import NOTE, CommentReader
from headway.ext.documents.office.sheet_headers import SheetHeaderReader
from headway.ext.documents.office.word_directions import WordDirection
from headway.ext.documents.xml_tokens import XmlToken, iterate_xml

_TYPES, _RELATIONS = "[Content_Types].xml", "_rels/.rels"
_MAIN = {  # ends of the types of a file's main part: documents and templates, without and with macros
    ".docx": (
        "wordprocessingml.document.main", "wordprocessingml.template.main",
        "ms-word.document.macroEnabled.main", "ms-word.template.macroEnabledTemplate.main",
    ),
    ".pptx": tuple(
        end
        for kind in ("presentation", "slideshow", "template")
        for end in (f"presentationml.{kind}.main", f"ms-powerpoint.{kind}.macroEnabled.main")
    ),
    ".xlsx": tuple(
        end
        for kind in ("sheet", "template")
        for end in (f"spreadsheetml.{kind}.main", f"ms-excel.{kind}.macroEnabled.main")
    ),
}  # fmt: skip
# The opening tag of a cell with a text in it, and what stands before its value: no formula.
_TEXT_CELL = re.compile(r"""<(?:\w+:)?c\s(?:[^<>]*\s)?t=["']str["'][^<>]*>\s*""")
# Alternative texts, which old drawings have in `alt`; texts in the shape of a picture; what is shown at a link.
_DRAWINGS = {
    "docPr": ("descr", "title"),
    "cNvPr": ("descr", "title"),
    "shape": ("alt",),
    "textpath": ("string",),
    **dict.fromkeys(("hlinkClick", "hlinkHover", "hlinkMouseOver"), ("tooltip",)),
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


def _is_no_text(token: XmlToken, source: str) -> bool:
    """Return whether an element is a value that is no text: a number, a reference, or the result of a formula."""
    if token.name != "v":
        return False
    start = source.rfind("<", 0, token.start)
    return not _TEXT_CELL.fullmatch(source, start, token.start)


def _is_no_label(token: XmlToken, source: str) -> bool:
    """Return whether an element of a newer chart has numbers, or names that a map is looked up by."""
    return token.name == "numDim" or (
        token.name == "strDim" and token.attributes.get("type") == "entityId"
    )


_TEXT = Grammar(
    {"p": WORD},
    attributes={
        **_DRAWINGS,
        "hyperlink": ("tooltip",),
        "default": ("val",),  # of a text field in a form
        "listItem": ("displayText",),
        "listEntry": ("val",),  # of a drop-down list in a form
    },
    is_skipped=_is_deleted,
    languages={"lang": "w:val"},
    make_direction=WordDirection,
)
_RTL = Directed("rtl", *ON_OR_OFF)
_ALIGNED = [_RTL, *mirror("algn", ("l",), ("r",))]
_SLIDE_DIRECTION = partial(AttributeDirection, {
    **dict.fromkeys(("pPr", "defPPr", *(f"lvl{level}pPr" for level in range(1, 10))), _ALIGNED),
    "tblPr": [_RTL._replace(is_added=True)],
})  # fmt: skip
SHEET_DIRECTION = partial(
    AttributeDirection, {"sheetView": [Directed("rightToLeft", *ON_OR_OFF, is_added=True)]}
)
_CELL_DIRECTION = partial(
    AttributeDirection, {"alignment": mirror("horizontal", ("left",), ("right",))}
)
_SLIDE = Grammar(
    {"p": SLIDE},
    frozenset({"cm/text", "pt/v", "trendline/name", "tx/v"}),
    _DRAWINGS,
    lambda token, source: token.name in ("numCache", "numLit"),
    languages={"*": "lang"},
    make_direction=_SLIDE_DIRECTION,
)
_LAYOUT = Grammar(
    {"p": SLIDE},
    attributes=_DRAWINGS,
    is_skipped=_is_placeholder,
    languages={"*": "lang"},
    make_direction=_SLIDE_DIRECTION,
)
_MASTER = Grammar(languages={"*": "lang"}, make_direction=_SLIDE_DIRECTION)
_NEWER_CHART = Grammar(  # such as a waterfall or a map
    {"p": SLIDE},
    frozenset({"lvl/pt", "txData/v"}),
    _DRAWINGS,
    _is_no_label,
    languages={"*": "lang"},
    make_direction=_SLIDE_DIRECTION,
)
# The attributes of an input check, and the most characters they may have.
_MESSAGES = {"promptTitle": 32, "prompt": 255, "errorTitle": 32, "error": 255}
_CELLS = {"si": 32_767, "is": 32_767}  # the most characters of a cell
_SHEET = Grammar(
    {"is": CELL, **dict.fromkeys(sheet_headers.NAMES, SheetHeaderReader)},
    frozenset({"c/v"}),
    attributes={
        "dataValidation": tuple(_MESSAGES),
        "hyperlink": ("tooltip",),
    },
    limits=_CELLS | {f"dataValidation/{name}": limit for name, limit in _MESSAGES.items()},
    is_skipped=_is_no_text,
    make_direction=SHEET_DIRECTION,
)
_CORE = Grammar(plain=_TITLES, codes=frozenset({"coreProperties/language"}))
WORDLESS = Grammar()  # of a worksheet without a text of its own
_GRAMMARS = {  # by the ends of types of content, without "+xml"
    **dict.fromkeys(_MAIN[".docx"], _TEXT),
    "wordprocessingml.document.glossary": _TEXT,
    "wordprocessingml.header": _TEXT,
    "wordprocessingml.footer": _TEXT,
    "wordprocessingml.footnotes": _TEXT,
    "wordprocessingml.endnotes": _TEXT,
    "wordprocessingml.comments": _TEXT,
    "wordprocessingml.styles": Grammar(languages={"lang": "w:val"}, make_direction=WordDirection),
    "wordprocessingml.numbering": Grammar(make_direction=WordDirection),
    **dict.fromkeys(_MAIN[".pptx"], _MASTER),
    "presentationml.slide": _SLIDE,
    "presentationml.notesSlide": _SLIDE,
    "presentationml.comments": _SLIDE,
    "powerpoint.comments": _SLIDE,
    "presentationml.slideLayout": _LAYOUT,
    "presentationml.slideMaster": _LAYOUT,
    "presentationml.notesMaster": _MASTER,
    "presentationml.handoutMaster": _MASTER,
    "drawingml.chart": _SLIDE,
    "drawingml.chartshapes": _SLIDE,
    "ms-office.chartex": _NEWER_CHART,
    "drawingml.diagramData": _SLIDE,
    "drawingml.diagramDrawing": _SLIDE,
    "officedocument.drawing": _SLIDE,
    "spreadsheetml.sharedStrings": Grammar({"si": CELL}, limits=_CELLS),
    "spreadsheetml.worksheet": _SHEET,
    "spreadsheetml.styles": Grammar(make_direction=_CELL_DIRECTION),
    "spreadsheetml.table": Grammar(attributes={"tableColumn": ("name", "totalsRowLabel")}),
    "spreadsheetml.comments": Grammar({"text": NOTE}),
    "ms-excel.threadedcomments": Grammar({"threadedComment": CommentReader}),
    "package.core-properties": _CORE,
}
# A worksheet without any of these has no text of its own, only numbers and shared strings.
_SIGNS_OF_TEXT = re.compile(
    rb"""<(?:\w+:)?(?:is|dataValidation|\w+(?:Header|Footer))\b|tooltip=|\bt=["']str["'][^<>]{0,200}>\s*<(?:\w+:)?v\b"""
)


def find_ooxml_parts(package: Package, kind: str) -> Iterator[tuple[str, Grammar]]:
    """Yield the names of the parts with text or a language, each with its grammar.

    Raises:
        HeadwayError: If the package is no file of this kind, or has no main part.
    """
    types = read_types(package)
    main = [name for name, each in types.items() if each.removesuffix("+xml").endswith(_MAIN[kind])]
    if not main:
        raise HeadwayError(f"is no {kind} file, although its name says so")
    if _RELATIONS not in package or not any(name in package for name in main):
        raise HeadwayError(NO_MAIN_PART)
    found = [
        (name, WORDLESS if _is_wordless(package, name, grammar) else grammar)
        for name in package.names
        for end, grammar in _GRAMMARS.items()
        if types.get(name, "").removesuffix("+xml").endswith(end)
    ]
    bound = find_bound_elements(package, [name for name, grammar in found if grammar is _TEXT])
    for name, grammar in found:
        yield name, replace(grammar, plain=grammar.plain | bound) if grammar is _CORE else grammar
    if bound:
        yield from ((name, Grammar(plain=bound)) for name in find_stores(package))


def _is_wordless(package: Package, name: str, grammar: Grammar) -> bool:
    """Return whether a part is a worksheet that has only numbers and shared strings."""
    return grammar is _SHEET and not _SIGNS_OF_TEXT.search(package.read(name))


def read_types(package: Package) -> dict[str, str]:
    """Return the type of the content of each member, "" if it has none.

    Raises:
        HeadwayError: If the package does not say so.
    """
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
