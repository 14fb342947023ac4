"""Fields of word processing: instructions, which stay as they are, and their results, which may be text."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from headway.ext.documents.blocks import MAX_DEPTH, Part, make_kept
from headway.ext.documents.office.runs import Piece
from headway.text import is_translatable

# Fields whose results are text of the document; all others are numbers, dates, names and references to data.
_TEXTS = {"HYPERLINK", "INDEX", "QUOTE", "REF", "STYLEREF", "TOA", "TOC", "XE"}

_FORM = "FORMTEXT"  # its result is text unless it is empty, which five spaces show


class FieldMark(NamedTuple):
    """A mark of a field, which may span several runs.

    Attributes:
        piece: Its markup.
        kind: ``begin``, ``separate`` or ``end``; "" is the instruction.
        instruction: Of the field.
    """

    piece: Piece
    kind: str
    instruction: str = ""


def join_fields(parts: Sequence[Part | FieldMark]) -> list[Part]:
    """Return parts in which each field is an element around its result, or has no text.

    A field that begins or ends in another paragraph, such as a table of contents, becomes plain markup.
    """
    out: list[Part] = []
    begins: list[_Field] = []
    for part in parts:
        if isinstance(part, Part):
            out.append(part)
            continue
        if part.kind == "begin":
            begins.append(_Field(len(out), []))
            if len(begins) > MAX_DEPTH:
                begins = []  # nobody writes that; all of them become plain markup
        elif begins and part.kind == "separate":
            begins[-1] = begins[-1]._replace(separate=len(out))
        elif begins and not part.kind:
            begins[-1].instruction.append(part.instruction)
        is_end = part.kind == "end"
        kind: Literal["close", "point"] = "close" if is_end and not begins else "point"
        out.append(Part(kind, (part.piece,)))
        if begins and is_end:
            field = begins.pop()
            out[field.begin :] = _join_field(field, out[field.begin :])
    return out


class _Field(NamedTuple):
    """A field that has begun.

    Attributes:
        begin: The number of the part that begins it.
        instruction: What it shows, in pieces.
        separate: The number of the part before its result; -1: it has no result.
    """

    begin: int
    instruction: list[str]
    separate: int = -1


def _join_field(field: _Field, parts: list[Part]) -> list[Part]:
    """Return the parts of a whole field as an element, if tags of XML do not cross its borders."""
    end = field.separate - field.begin + 1 if field.separate >= 0 else len(parts)
    head, result = parts[:end], parts[end:-1]
    if not _is_balanced(head) or not _is_balanced(result):
        return parts
    if field.separate < 0:
        return [Part("point", _join_pieces(parts))]
    instruction = "".join(field.instruction)
    texts = [" " if part.kind == "line" else part.text for part in result]
    is_form = _find_kind(instruction) == _FORM and any(map(is_translatable, texts))
    if not shows_text(instruction) and not is_form:
        return [make_kept(_join_pieces(parts), "".join(texts))]
    opening = Part("open", _join_pieces(head), name="field", is_element=True)
    return [opening, *result, parts[-1]._replace(kind="close", name="field", is_element=True)]


def _join_pieces(parts: Sequence[Part]) -> tuple[Any, ...]:
    return tuple(piece for part in parts for piece in part.source)


def _is_balanced(parts: Sequence[Part]) -> bool:
    """Return whether every tag of XML among some parts has its partner among them."""
    depth = 0
    for part in parts:
        if part.is_element:
            depth += {"open": 1, "close": -1}.get(part.kind, 0)
        if depth < 0:
            return False
    return depth == 0


def shows_text(instruction: str) -> bool:
    """Return whether the result of a field is text of the document."""
    return _find_kind(instruction) in _TEXTS


def _find_kind(instruction: str) -> str:
    return next(iter(instruction.split(maxsplit=1)), "").upper()
