"""Fields of word processing: instructions, which stay as they are, and their results, which may be text."""

from collections.abc import Mapping, Sequence
from typing import Any

from headway.ext.documents.blocks import Part, find_partners, make_kept
from headway.text import is_translatable

# The names of the parts that begin and end a field, stand before its result, and have its instruction as their key.
FIELD, SEPARATE, INSTRUCTION = "field", "separate", "instruction"
# Fields whose results are text of the document; all others are numbers, dates, names and references to data.
_TEXTS = {"HYPERLINK", "INDEX", "QUOTE", "REF", "STYLEREF", "TOA", "TOC", "XE"}
_FORM = "FORMTEXT"  # its result is text unless it is empty, which five spaces show


def join_fields(parts: Sequence[Part]) -> list[Part]:
    """Return parts in which each field is an element around its result, or has no text.

    A field that begins or ends in another paragraph, such as a table of contents, is plain markup.
    """
    return _join(parts, find_partners(parts), 0, len(parts))


def _join(parts: Sequence[Part], partner: Mapping[int, int], at: int, last: int) -> list[Part]:
    """Return a range of parts with its fields joined."""
    out: list[Part] = []
    while at < last:
        end = partner.get(at, at)
        if parts[at].name == FIELD and at < end:
            out += _join_field(parts, partner, at, end)
            at = end
        else:
            out.append(parts[at])
        at += 1
    return out


def _join_field(
    parts: Sequence[Part], partner: Mapping[int, int], first: int, last: int
) -> list[Part]:
    """Return a field; first and last are the numbers of the parts that begin and end it."""
    instruction, at = "", first + 1
    while at < last and parts[at].name != SEPARATE:
        instruction += parts[at].key if parts[at].name == INSTRUCTION else ""
        at = partner.get(at, at) + 1  # what stands in other elements is not its own
    if at >= last:
        return [Part("point", _join_pieces(parts[first : last + 1]))]
    result = _join(parts, partner, at + 1, last)
    texts = [" " if part.kind == "line" else part.text for part in result]
    is_form = _find_kind(instruction) == _FORM and any(map(is_translatable, texts))
    if not shows_text(instruction) and not is_form:
        return [make_kept(_join_pieces(parts[first : last + 1]), "".join(texts))]
    opening = Part("open", _join_pieces(parts[first : at + 1]), name=FIELD, is_element=True)
    return [opening, *result, parts[last]._replace(is_element=True)]


def _join_pieces(parts: Sequence[Part]) -> tuple[Any, ...]:
    return tuple(piece for part in parts for piece in part.source)


def shows_text(instruction: str) -> bool:
    """Return whether the result of a field is text of the document."""
    return _find_kind(instruction) in _TEXTS


def _find_kind(instruction: str) -> str:
    return next(iter(instruction.split(maxsplit=1)), "").upper()
