"""Fields of word processing: instructions, which stay as they are, and their results, which may be text."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from headway.ext.documents.blocks import MAX_DEPTH
from headway.ext.documents.office.inline import InlinePart, SourceSpan
from headway.ext.documents.office.inline_reading import is_balanced
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

    piece: SourceSpan
    kind: str
    instruction: str = ""


def join_fields(parts: Sequence[InlinePart | FieldMark]) -> list[InlinePart]:
    """Return parts in which each field is an element around its result, or has no text.

    A field that begins or ends in another paragraph, such as a table of contents, becomes plain markup.
    """
    out: list[InlinePart] = []
    begins: list[_Field] = []
    for part in parts:
        if isinstance(part, InlinePart):
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
        out.append(InlinePart(kind, (part.piece,), is_element=False))
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


def _join_field(field: _Field, parts: list[InlinePart]) -> list[InlinePart]:
    """Return the parts of a whole field as an element, if tags of XML do not cross its borders."""
    end = field.separate - field.begin + 1 if field.separate >= 0 else len(parts)
    head, result = parts[:end], parts[end:-1]
    if not is_balanced(head) or not is_balanced(result):
        return parts
    pieces = tuple(piece for part in head for piece in part.pieces)
    if field.separate < 0:
        return [InlinePart("point", pieces)]
    instruction = "".join(field.instruction)
    is_form = _find_kind(instruction) == _FORM and any(
        is_translatable(part.text) for part in result
    )
    is_kept = not shows_text(instruction) and not is_form
    opening = InlinePart("open", pieces, name="field", is_kept=is_kept)
    return [opening, *result, InlinePart("close", parts[-1].pieces, name="field")]


def shows_text(instruction: str) -> bool:
    """Return whether the result of a field is text of the document."""
    return _find_kind(instruction) in _TEXTS


def _find_kind(instruction: str) -> str:
    return next(iter(instruction.split(maxsplit=1)), "").upper()
