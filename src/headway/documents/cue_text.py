"""The text of a subtitle: tags and positions around it, and its lines."""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from headway.documents.blocks import Block, Part, flatten, make_block
from headway.documents.paragraph import Translated
from headway.documents.placing import place

LINE = 42  # characters of a line that can be read in time, by most guidelines
_MARKUP = re.compile(r"</?[a-zA-Z][^<>\r\n]*>|<\d[\d:.]*>|</>|\{\\[^{}\r\n]*\}|(?<!\s)\s*[\r\n]\s*")
_NAME = re.compile(r"</?([a-zA-Z]+)")


def make_cue(source: str, has_references: bool) -> Block:
    """Return the text of a subtitle, in one line.

    Args:
        source: The text as it stands in the file.
        has_references: Whether ``&amp;`` is a character reference.
    """
    parts, at = [], 0
    for found in [*_MARKUP.finditer(source), None]:
        text = source[at : found.start() if found else len(source)]
        if text:
            parts.append(Part("text", text, html.unescape(text) if has_references else text))
        if found is None:
            break
        at, markup = found.end(), found[0]
        name = _NAME.match(markup)
        if markup.isspace():
            parts.append(Part("text", markup, " "))
        elif name is None:
            parts.append(Part("point", markup))
        else:
            kind = "close" if markup.startswith("</") else "open"
            parts.append(Part("close" if kind == "close" else "open", markup, name=name[1].lower()))
    return make_block(parts)


def write_cue(block: Block, translated: Translated, has_references: bool, line_end: str) -> str:
    """Return the source of a translated subtitle, in as many lines as it had, or more if it is longer.

    A subtitle whose text does not change is returned as it stands in the file.

    Args:
        block: The subtitle.
        translated: Its translation.
        has_references: Whether ``&amp;`` is a character reference.
        line_end: Of the file.
    """
    if translated.text == block.text:
        return block.source
    lines = re.split(r"(?<!\s)\s*[\r\n]\s*", block.source)
    longest = max(LINE, *(len(_MARKUP.sub("", line)) for line in lines))
    needed = -(-len(translated.text) // longest)
    text = _wrap(translated.text, max(len(lines), min(needed, 2)))
    # A line break takes the place of one space, so that links and spans stay right.
    parts = flatten(place(block, Translated(text, translated.links)))
    written = "".join(
        part if is_markup or not has_references else html.escape(part, quote=False)
        for part, is_markup in parts
    )
    return written.replace("\n", line_end)


def _wrap(text: str, count: int) -> str:
    """Break a text into lines of similar length; each break replaces a space."""
    text = text.replace("\n", " ")
    breaks: Sequence[int] = [at for at, character in enumerate(text) if character == " "]
    out = list(text)
    at = 0
    for number in range(1, count):
        low, high = bisect_right(breaks, at), bisect_left(breaks, len(text) - 1)
        if low >= high:
            break
        ideal = at + (len(text) - at) / (count - number + 1)
        after = bisect_left(breaks, ideal, low, high)
        nearest = breaks[max(low, after - 1) : min(high, after + 1)]
        at = min(nearest, key=lambda place: abs(place - ideal))
        out[at] = "\n"
    return "".join(out)
