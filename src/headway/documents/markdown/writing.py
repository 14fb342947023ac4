"""The Markdown of a translated paragraph: the marks around its words, and text that does not become markup."""

import re
from collections.abc import Sequence
from typing import Literal

from headway.documents.blocks import Block, Mark, flatten
from headway.documents.paragraph import Translated
from headway.documents.placing import Placed, place

_SPECIAL = re.compile(  # of dollars those that could end a formula, of # the first of those that could end a heading
    r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=#?\w+;)|(?<!\s)\$(?!\d)|(?<=\$)\$|(?<=\s)#(?=#*\s*\Z)"
)
_INDENTATION = re.compile(r"\A(?: {4}| {0,3}\t)\s*")  # of code
_BLOCK_START = re.compile(
    r"\A(\s*)(?:([-+:](?=\s|\Z)|[-=]+(?=\s*\Z)|#{1,6}(?=\s|\Z)|>|~~~|:::|!!!|\?\?\?|===)|(\d{1,9})([.)])(?=\s|\Z))"
)
_EMPHASIS = re.compile(r"[*_~]+")


def write_block(block: Block, translated: Translated, *, is_cell: bool) -> str:
    """Return the Markdown of a translated block.

    A block whose text does not change is returned as it stands in the file.

    Args:
        block: The block.
        translated: Its translation.
        is_cell: Whether it is in a table, where ``|`` ends a cell.
    """
    if translated.text == block.text:
        return block.source
    out = ""
    for part, is_markup in flatten(_fit_emphasis(place(block, translated))):
        if is_markup:
            out += part
            continue
        text = _SPECIAL.sub(r"\\\g<0>", part)
        if not out.strip():
            text = _BLOCK_START.sub(_escape_start, _INDENTATION.sub("", text))
        out += text.replace("|", "\\|") if is_cell else text
    return out


def _fit_emphasis(parts: Sequence[str | Placed[Mark]]) -> list[str | Placed[Mark]]:
    """Return a translation in which marks of emphasis touch words: elsewhere they are shown as asterisks.

    Spaces at the edges of emphasis move out of it. Emphasis with nothing else inside is left out.
    """
    fitted: list[str | Placed[Mark]] = []
    for part in parts:
        if isinstance(part, str):
            fitted.append(part)
            continue
        inner = _fit_emphasis(part.inner)
        if not _EMPHASIS.fullmatch(part.element.content.before):
            fitted.append(Placed(part.element, inner))
            continue
        before = _cut_spaces(inner, 0)
        after = _cut_spaces(inner, -1)
        fitted += [before, *([Placed(part.element, inner)] if inner else []), after]
    return fitted


def _cut_spaces(parts: list[str | Placed[Mark]], end: Literal[0, -1]) -> str:
    """Remove the spaces at one end of a list, and return them."""
    spaces = ""
    while parts and isinstance(text := parts[end], str):
        if end:
            words = text.rstrip()
            spaces = text.removeprefix(words) + spaces
        else:
            words = text.lstrip()
            spaces += text.removesuffix(words)
        if words:
            parts[end] = words
            break
        del parts[end]
    return spaces


def _escape_start(found: re.Match[str]) -> str:
    space, mark, number, end = found.groups()
    return f"{space}\\{mark}" if mark else f"{space}{number}\\{end}"
