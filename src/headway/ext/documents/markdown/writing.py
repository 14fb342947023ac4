"""The Markdown of a translated paragraph: the marks around its words, and text that does not become markup."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from headway.ext.documents.markdown.parser import find_marker
from headway.ext.documents.marked_text import flatten
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.placing import Placed, place

_HEADING_END = re.compile(r"(?<=\s)#(?=#*\s*\Z)")
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)|[`*\[\]]|\$(?!\{)|<(?=[a-zA-Z/!?]|\Z)|(?<!\w)_|_(?!\w)|~(?=~)|&(?=#?\w+;)|"
    + _HEADING_END.pattern
)
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_INDENTATION = re.compile(r"\A(?: {4}| {0,3}\t)\s*")  # of code
_BLOCK_START = re.compile(
    r"\A(\s*)(?:([-+:](?=\s|\Z)|[-=]+(?=\s*\Z)|#{1,6}(?=\s|\Z)|>|~~~|:::|!!!|\?\?\?|===)|(\d{1,9})([.)])(?=\s|\Z))"
)


def escape_start(text: str, source: str) -> str:
    """Return the first text of a block without what would begin another one, such as a list.

    Args:
        text: The text.
        source: The block as it stands in the file. If it begins with the same mark, such as ``1.`` in a heading, the mark
            begins nothing there.
    """
    text = _INDENTATION.sub("", text)
    own, found = _BLOCK_START.match(source), _BLOCK_START.match(text)
    is_own = own and found and own.group(2, 4) == found.group(2, 4)
    if not found or (is_own and not find_marker(text.strip())):
        return text
    space, mark, number, end = found.groups()
    escaped = f"\\{mark}" if mark else f"{number}\\{end}"
    return f"{space}{escaped}{text[found.end() :]}"


_EMPHASIS = re.compile(r"[*_~]+")


def write_markdown(
    block: Paragraph, translated: Translated, read: Callable[[str], Paragraph]
) -> str:
    """Return the Markdown of a translated block.

    If the translation equals the text, the block is returned as the file has it.

    Args:
        block: The block.
        translated: Its translation.
        read: Reads the Markdown of a block.
    """
    if translated.text == block.text:
        return block.source
    parts = [*flatten(_fit_emphasis(place(block, translated)))]
    # Backslashes stand before special characters if the source has some, or if one would be markup where it stands now: a* and *b.
    written, safe = (_join(parts, special, block.source) for special in (_HEADING_END, _SPECIAL))
    if _ESCAPED.search(block.source):
        return safe
    return written if written == safe or _is_same(read(written), read(safe)) else safe


def _join(parts: Sequence[tuple[str, bool]], special: re.Pattern[str], source: str) -> str:
    """Return the Markdown of a block from its texts and markup; special characters get a backslash."""
    is_heading_end = special is _HEADING_END and source.endswith("#")
    out, is_start = list[str](), True
    for part, is_markup in parts:
        text = part
        if not is_markup:
            text = part if is_heading_end else special.sub(r"\\\g<0>", part)
            text = escape_start(text, source) if is_start else text
        out.append(text)
        is_start = is_start and not text.strip()
    return "".join(out)


def _is_same(block: Paragraph, other: Paragraph) -> bool:
    return (block.text, block.elements) == (other.text, other.elements)


def _fit_emphasis(parts: Sequence[str | Placed]) -> list[str | Placed]:
    """Return a translation in which marks of emphasis touch words: elsewhere they are shown as asterisks.

    Spaces at the edges of emphasis move out of it. Emphasis with nothing else inside is left out.
    """
    fitted: list[str | Placed] = []
    for part in parts:
        if isinstance(part, str):
            fitted.append(part)
            continue
        inner = _fit_emphasis(part.inner)
        if not _EMPHASIS.fullmatch(part.element.before):
            fitted.append(Placed(part.element, inner))
            continue
        before = _cut_spaces(inner, 0)
        after = _cut_spaces(inner, -1)
        fitted += [before, *([Placed(part.element, inner)] if inner else []), after]
    return fitted


def _cut_spaces(parts: list[str | Placed], end: Literal[0, -1]) -> str:
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
