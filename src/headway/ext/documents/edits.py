"""Replacements of parts of a text; all else stays as it is."""

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """What takes the place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    replacement: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with some parts replaced; the parts do not overlap."""
    out, at = [], 0
    for edit in sorted(edits):
        out += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*out, text[at:]])
