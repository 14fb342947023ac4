"""The Markdown of a translated paragraph: the marks around its words, and text that does not become markup."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from headway.ext.documents.blocks import Block, Markup, flatten
from headway.ext.documents.markdown.escapes import Escapes, escape_start
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.placing import Placed, place

_EMPHASIS = re.compile(r"[*_~]+")


def write_block(
    block: Block,
    translated: Translated,
    escapes: Escapes,
    read: Callable[[str], Block],
    *,
    is_cell: bool,
) -> str:
    """Return the Markdown of a translated block.

    If the translation equals the text, the block is returned as the file has it.

    Args:
        block: The block.
        translated: Its translation.
        escapes: The backslashes of its passage.
        read: Reads the Markdown of a block.
        is_cell: Whether it is in a table, where ``|`` ends a cell.
    """
    if translated.text == block.text:
        return block.source
    parts = [*flatten(_fit_emphasis(place(block, translated)))]
    written, safe = (_join(parts, each, block.source, is_cell) for each in (escapes, Escapes()))
    # What was no markup in the source can become some where it stands now: a* and *b.
    return written if written == safe or _is_same(read(written), read(safe)) else safe


def _join(parts: Sequence[tuple[str, bool]], escapes: Escapes, source: str, is_cell: bool) -> str:
    """Return the Markdown of a block from its texts and markup."""
    out = ""
    for part, is_markup in parts:
        if is_markup:
            out += part
            continue
        text = escapes.escape(part)
        if not out.strip():
            text = escape_start(text, source)
        out += text.replace("|", "\\|") if is_cell else text
    return out


def _is_same(block: Block, other: Block) -> bool:
    return (block.text, block.elements) == (other.text, other.elements)


def _fit_emphasis(parts: Sequence[str | Placed[Markup]]) -> list[str | Placed[Markup]]:
    """Return a translation in which marks of emphasis touch words: elsewhere they are shown as asterisks.

    Spaces at the edges of emphasis move out of it. Emphasis with nothing else inside is left out.
    """
    fitted: list[str | Placed[Markup]] = []
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


def _cut_spaces(parts: list[str | Placed[Markup]], end: Literal[0, -1]) -> str:
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
