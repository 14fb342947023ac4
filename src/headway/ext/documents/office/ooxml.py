"""Which parts of Office Open XML (.docx, .pptx, .xlsx) have text, and where it stands in them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from headway.errors import HeadwayError
from headway.ext.documents.office.dialects import CELL, SLIDE, WORD
from headway.ext.documents.office.directions import turn_cells, turn_slide, turn_word
from headway.ext.documents.office.package import NO_MAIN_PART, Package
from headway.ext.documents.office.xml_part import Grammar
from headway.ext.documents.office.xml_tree import Node

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


def _is_placeholder(shape: Node) -> bool:
    """Return whether an element is a shape of a slide layout whose text is never shown."""
    return shape.find(".//{*}ph") is not None


def _is_no_text(value: Node) -> bool:
    """Return whether a value is no text: a number, a reference, or the result of a formula."""
    cell = value.getparent()
    return cell is None or cell.get("t") != "str" or value.getprevious() is not None


def _mentions_people(comment: Node) -> bool:
    """Return whether a comment mentions somebody; it stays, because a mention tells its place in the text."""
    return comment.find(".//{*}mention") is not None


def _always(_: Node) -> bool:
    return True


_TEXT = Grammar(
    {"p": WORD},
    attributes={
        **_DRAWINGS,
        "hyperlink": ("tooltip",),
        "default": ("val",),  # of a text field in a form
        "listItem": ("displayText",),
        "listEntry": ("val",),  # of a drop-down list in a form
    },
    skipped={"del": _always, "moveFrom": _always},  # text that was deleted or moved away
    languages={"lang": "val"},
    turn=turn_word,
)
_MASTER = Grammar(languages={"*": "lang"}, turn=turn_slide)
_LAYOUT = replace(
    _MASTER, paragraphs={"p": SLIDE}, attributes=_DRAWINGS, skipped={"sp": _is_placeholder}
)
_SLIDE = replace(
    _LAYOUT,
    plain=frozenset({"cm/text", "pt/v", "trendline/name", "tx/v"}),
    skipped={"numCache": _always, "numLit": _always},
)
# The attributes of an input check, and the most characters they may have.
_MESSAGES = {"promptTitle": 32, "prompt": 255, "errorTitle": 32, "error": 255}
_LONGEST_CELLS = {"si": 32_767, "is": 32_767}  # characters
_SHEET = Grammar(
    {"is": CELL},
    frozenset({"c/v"}),
    attributes={"dataValidation": tuple(_MESSAGES), "hyperlink": ("tooltip",)},
    skipped={"v": _is_no_text},
    limits=_LONGEST_CELLS | {f"dataValidation/{name}": most for name, most in _MESSAGES.items()},
)
_CORE = Grammar(plain=_TITLES, codes=frozenset({"coreProperties/language"}))
WORDLESS = Grammar()  # of a worksheet without a text of its own
_WORD_PARTS = ("document.glossary", "header", "footer", "footnotes", "endnotes", "comments")
_SLIDE_PARTS = (
    *(f"presentationml.{name}" for name in ("slide", "notesSlide", "comments")),
    *(f"drawingml.{name}" for name in ("chart", "chartshapes", "diagramData", "diagramDrawing")),
    "powerpoint.comments",
    "officedocument.drawing",
)
_MASTER_PARTS = ("presentationml.notesMaster", "presentationml.handoutMaster")
_GRAMMARS = {  # by the ends of types of content, without "+xml"
    **dict.fromkeys(
        (*_MAIN[".docx"], *(f"wordprocessingml.{name}" for name in _WORD_PARTS)), _TEXT
    ),
    "wordprocessingml.styles": Grammar(languages={"lang": "val"}, turn=turn_word),
    "wordprocessingml.numbering": Grammar(turn=turn_word),
    **dict.fromkeys((*_MAIN[".pptx"], *_MASTER_PARTS), _MASTER),
    **dict.fromkeys(_SLIDE_PARTS, _SLIDE),
    **dict.fromkeys(("presentationml.slideLayout", "presentationml.slideMaster"), _LAYOUT),
    "spreadsheetml.sharedStrings": Grammar({"si": CELL}, limits=_LONGEST_CELLS),
    "spreadsheetml.worksheet": _SHEET,
    "spreadsheetml.styles": Grammar(turn=turn_cells),
    "spreadsheetml.table": Grammar(attributes={"tableColumn": ("name", "totalsRowLabel")}),
    "spreadsheetml.comments": Grammar({"text": CELL}),
    "ms-excel.threadedcomments": Grammar(
        plain=frozenset({"threadedComment/text"}), skipped={"threadedComment": _mentions_people}
    ),
    "package.core-properties": _CORE,
}
# A worksheet without any of these has no text of its own, only numbers and shared strings.
_SIGNS_OF_TEXT = re.compile(
    rb"""<(?:\w+:)?(?:is|dataValidation)\b|tooltip=|\bt=["']str["'][^<>]{0,200}>\s*<(?:\w+:)?v\b"""
)


def find_ooxml_parts(
    package: Package, kind: str, types: Mapping[str, str]
) -> Iterator[tuple[str, Grammar]]:
    """Yield the names of the parts with text or a language, each with its grammar.

    Args:
        package: The package.
        kind: The suffix of such documents, without macros.
        types: From `read_types`.

    Raises:
        HeadwayError: If the package is no file of this kind, or has no main part.
    """
    main = [name for name, each in types.items() if each.removesuffix("+xml").endswith(_MAIN[kind])]
    if not main:
        raise HeadwayError(f"is no {kind} file, although its name says so")
    if _RELATIONS not in package or not any(name in package for name in main):
        raise HeadwayError(NO_MAIN_PART)
    yield from (
        (name, WORDLESS if _is_wordless(package, name, grammar) else grammar)
        for name in package.names
        for end, grammar in _GRAMMARS.items()
        if types.get(name, "").removesuffix("+xml").endswith(end)
    )


def _is_wordless(package: Package, name: str, grammar: Grammar) -> bool:
    """Return whether a part is a worksheet that has only numbers and shared strings."""
    if grammar is not _SHEET:
        return False
    data = package.read(name)
    # A pattern would read a million numbers slowly.
    signs = (b"<is", b":is", b"dataValidation", b"tooltip=", b"str")
    return not (any(sign in data for sign in signs) and _SIGNS_OF_TEXT.search(data))


def read_types(package: Package) -> dict[str, str]:
    """Return the type of the content of each member, "" if it has none.

    Raises:
        HeadwayError: If the package does not say so.
    """
    if _TYPES not in package:
        raise HeadwayError(f"is no office file: it has no member {_TYPES}")
    root = package.parse(_TYPES)
    defaults = {
        node.get("Extension", "").lower(): node.get("ContentType", "")
        for node in root.iter("{*}Default")
    }
    types = {
        node.get("PartName", "").removeprefix("/"): node.get("ContentType", "")
        for node in root.iter("{*}Override")
    }
    for name in package.names:
        types.setdefault(name, defaults.get(name.rpartition(".")[2].lower(), ""))
    return types
