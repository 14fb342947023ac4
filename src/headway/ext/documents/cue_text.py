"""The text of a subtitle: tags and positions around it, and its lines."""

import html
import re
from bisect import bisect_left, bisect_right
from itertools import pairwise
from unicodedata import east_asian_width

from headway.ext.documents.blocks import Block, Part, flatten, make_block
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.placing import place
from headway.text import find_words

LINE = 42  # characters of a line that can be read in time, by most guidelines
# Also times of words (WebVTT), and {\an8} of SubStation Alpha.
TAG = r"</?[a-zA-Z][^<>\r\n]*>|<\d[\d:.]*>|</>|\{\\[^{}\r\n]*\}"
_LINE_BREAK = re.compile(r"(?<!\s)\s*(?:[\r\n]|\\N)\s*")  # \N: of SubStation Alpha
# How the word before it is pronounced; "</rt>" may be left out.
_READING = re.compile(r"<rt(?=[.\s>])[^<>\r\n]*>.*?(?:</rt>|(?=</ruby>)|\Z)", re.DOTALL)
_MARKUP = re.compile(rf"{_READING.pattern}|{TAG}|{_LINE_BREAK.pattern}", re.DOTALL)
_NAME = re.compile(r"</?([a-zA-Z]+)")


def make_cue(source: str, has_references: bool) -> Block:
    """Return the text of a subtitle, in one line.

    Args:
        source: The text as it stands in the file.
        has_references: Whether ``&amp;`` is a character reference.
    """
    parts, at = [], 0
    # A line break outside of the text, such as a blank line at the beginning of a cue, stays as it is.
    bare = _MARKUP.sub(lambda found: " " * len(found[0]), source)
    first, last = len(bare) - len(bare.lstrip()), len(bare.rstrip())
    for found in [*_MARKUP.finditer(source), None]:
        text = source[at : found.start() if found else len(source)]
        if text:
            parts.append(Part("text", text, html.unescape(text) if has_references else text))
        if found is None:
            break
        at, markup = found.end(), found[0]
        name = _NAME.match(markup)
        if _LINE_BREAK.fullmatch(markup):
            is_inside = first < found.start() < last
            parts.append(Part("text" if is_inside else "point", markup, " " if is_inside else ""))
        elif _READING.fullmatch(markup):
            parts.append(Part("dropped", markup))
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
    lines = [line for line in _LINE_BREAK.split(block.source) if _MARKUP.sub("", line).strip()]
    line_end = "\\N" if "\\N" in block.source else line_end
    longest = max(LINE, *(_width(_MARKUP.sub("", line)) for line in lines))
    needed = -(-_width(translated.text) // longest)
    parts = [*flatten(place(block, translated))]
    text = "".join(part for part, is_markup in parts if not is_markup)
    breaks = _find_breaks(text, max(len(lines), min(needed, 2)))
    written, at = "", 0
    for part, is_markup in parts:
        if is_markup:
            written += part
            continue
        own = slice(bisect_left(breaks, at), bisect_left(breaks, at + len(part)))
        ends = [place - at for place in breaks[own]]
        first, *rest = [part[start:end] for start, end in pairwise([0, *ends, len(part)])]
        broken = line_end.join([first, *(piece.removeprefix(" ") for piece in rest)])
        written += html.escape(broken, quote=False) if has_references else broken
        at += len(part)
    return written


def _width(text: str) -> int:
    """Return how many letters are as wide as a text; Chinese characters and the like are as wide as two."""
    return sum(1 + (east_asian_width(character) in "WF") for character in text)


def _find_breaks(text: str, count: int) -> list[int]:
    """Return where a text is broken into lines of similar length.

    A break takes the place of the space there, or stands between two words of a script without spaces.
    """
    starts = [start for start, _ in find_words(text)][1:]
    places = [start - (text[start - 1] == " ") for start in starts]
    places = [place for place in places if not text[place - 1].isspace()]
    found, at = [], 0
    for number in range(1, count):
        low = bisect_right(places, at)
        if low == len(places):
            break
        ideal = at + (len(text) - at) / (count - number + 1)
        after = bisect_left(places, ideal, low)
        at = min(places[max(low, after - 1) : after + 1], key=lambda place: abs(place - ideal))
        found.append(at)
    return found
