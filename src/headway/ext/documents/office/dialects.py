"""How word processing, slides and cells of Office Open XML write paragraphs."""

import re
from functools import partial

from headway.ext.documents.office.run_reader import RunReader
from headway.ext.documents.office.run_writer import RunDialect

_EMPTY = re.compile(r"^<[\w:]+\s*(/>|>\s*</[\w:]+>)$")
# What two runs may differ in and still look the same: language, marks of the spelling check, revisions.
_WORD_NOISE = re.compile(
    r"<(?:\w+:)?(?:lang|noProof|webHidden)\b[^<>]*/>|\s(?:\w+:)?rsid\w*=\"[^\"]*\""
)
_SLIDE_NOISE = re.compile(r"\s(?:lang|altLang|dirty|err|noProof|smtClean|smtId|bmk)=(?:\"[^\"]*\"|'[^']*')")  # fmt: skip
_ESCAPE = re.compile(r"_x000([9ADad])_")


def _normalize_word(properties: str) -> str:
    return _shorten(_WORD_NOISE.sub("", properties))


def _normalize_slide(properties: str) -> str:
    return _shorten(_SLIDE_NOISE.sub("", properties))


def _shorten(properties: str) -> str:
    """Return "" for properties that say nothing."""
    return "" if _EMPTY.match(properties) else properties


def read_cell(text: str) -> str:
    """Return the text of a cell, in which ``_x000D_`` is a carriage return."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def _write_cell(text: str) -> str:
    return text.replace("\r", "_x000D_")


WORD = partial(RunReader, RunDialect(
    normalize=_normalize_word,
    roles={
        **dict.fromkeys(("br", "cr", "ptab", "tab"), "break"),
        **dict.fromkeys(("lastRenderedPageBreak", "proofErr", "rt", "rubyPr", "softHyphen"), "dropped"),
        **dict.fromkeys(("ruby", "rubyBase"), "transparent"),
        **dict.fromkeys(("bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "sdt", "smartTag"), "wrapper"),
        **dict.fromkeys(("customXmlPr", "sdtEndPr", "sdtPr", "smartTagPr"), "attached"),
        **dict.fromkeys(("oMath", "oMathPara"), "formula"),
        "pPr": "head", "sdtContent": "holder", "noBreakHyphen": "hyphen",
    },
    new_break="<{0}br/>",
    described=frozenset({"customXml", "sdt", "smartTag"}),
    numbered=frozenset({"ins", "moveTo"}),
    kept=frozenset({"fldSimple"}),
    ranges=frozenset({"bookmark", "commentRange", "moveFromRange", "moveToRange", "perm"}),
))  # fmt: skip
SLIDE = partial(
    RunReader,
    RunDialect(
        normalize=_normalize_slide,
        roles={"br": "break", "pPr": "head", "endParaRPr": "tail"},
        new_break="<{0}br/>",
        has_breaks_in_runs=False,
        is_trimmed=False,
    ),
)
CELL_DIALECT = RunDialect(
    normalize=_shorten,
    roles={"phoneticPr": "dropped", "rPh": "dropped"},
    read=read_cell,
    write=_write_cell,
)
CELL = partial(RunReader, CELL_DIALECT)
