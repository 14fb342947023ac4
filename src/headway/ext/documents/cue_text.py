"""The text of a subtitle: tags and positions around it, and its lines."""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from unicodedata import east_asian_width

from headway.ext.documents.marked_text import Part, flatten, make_paragraph
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.placing import place
from headway.ext.protect import overlapped
from headway.text import Span, WordLinks, find_words

LINE = 42  # characters of a line that can be read in time, by most guidelines
# Also times of words (WebVTT), and {\an8} of SubStation Alpha.
TAG = r"</?[a-zA-Z][^<>\r\n]*>|<\d[\d:.]*>|</>|\{\\[^{}\r\n]*\}"
_NAME = re.compile(r"</?([a-zA-Z]+)")


@dataclass(frozen=True)
class CueGrammar:
    """How a format writes the text of a cue.

    Attributes:
        tag: A pattern of what is no text.
        line_break: A pattern of what ends a line, besides a line end of the file.
        line_end: How a new line is written; "": as the lines of the file end, which its reader says.
        has_references: Whether ``&amp;`` is a character reference.
    """

    tag: str = TAG
    line_break: str = r"\\N"  # of SubStation Alpha, which other programs write, too
    line_end: str = ""
    has_references: bool = False

    @cached_property
    def markup(self) -> re.Pattern[str]:
        """Matches what is no text: tags, and breaks with the white space around them."""
        line_end = rf"(?P<end>(?<!\s)\s*(?:[\r\n]|{self.line_break})\s*)"
        return re.compile(rf"{self.tag}|{line_end}")

    @cached_property
    def borders(self) -> re.Pattern[str]:
        """Matches what stands between the lines of a cue."""
        return re.compile(rf"(?:\n|{self.line_break})[ \t]*")

    def list_lines(self, source: str) -> list[str]:
        """Return the lines of a text that are not blank, without their markup."""
        bare = self.markup.sub(lambda found: "\n" if found["end"] else "", source)
        return [line for line in bare.split("\n") if line.strip()]


def make_cue(source: str, grammar: CueGrammar) -> Paragraph:
    """Return the text of a subtitle, in one line.

    Args:
        source: The text as it stands in the file.
        grammar: Of the file.
    """
    parts, at = list[Part](), 0
    # A line break outside of the text, such as a blank line at the beginning of a cue, stays as it is.
    bare = grammar.markup.sub(lambda found: " " * len(found[0]), source)
    first, last = len(bare) - len(bare.lstrip()), len(bare.rstrip())
    for found in [*grammar.markup.finditer(source), None]:
        text = source[at : found.start() if found else len(source)]
        if text:
            means = html.unescape(text) if grammar.has_references else text
            parts.append(Part("text", text, means))
        if found is None:
            break
        at, markup = found.end(), found[0]
        name = _NAME.match(markup)
        if found["end"]:
            is_inside = first < found.start() < last
            parts.append(Part("text" if is_inside else "point", markup, " " if is_inside else ""))
        elif name is None:
            parts.append(Part("point", markup))
        elif markup.startswith("</"):
            parts.append(Part("close", markup, name=name[1].lower()))
        else:
            parts.append(Part("open", markup, name=name[1].lower()))
    return make_paragraph(parts)


def write_cue(block: Paragraph, translated: Translated, grammar: CueGrammar, most: int) -> str:
    """Return the source of a translated subtitle, in as many lines as it had, or more if it is longer.

    A subtitle whose text does not change is returned as it stands in the file.

    Args:
        block: The subtitle.
        translated: Its translation.
        grammar: Of the file.
        most: Lines that it may have if it had fewer.
    """
    if translated.text == block.text:
        return block.source
    lines = grammar.list_lines(block.source)
    line_end = "\\N" if "\\N" in block.source else grammar.line_end
    longest = max(LINE, *map(_width, lines))
    needed = -(-_width(translated.text) // longest)
    parts = [*flatten(place(block, translated))]
    text = "".join(part for part, is_markup in parts if not is_markup)
    breaks = _find_breaks(text, max(len(lines), min(needed, most)))
    written, at = "", 0
    for part, is_markup in parts:
        if is_markup:
            written += part
            continue
        own = slice(bisect_left(breaks, at), bisect_left(breaks, at + len(part)))
        ends = [place - at for place in breaks[own]]
        first, *rest = [part[start:end] for start, end in pairwise([0, *ends, len(part)])]
        broken = line_end.join([first, *(piece.removeprefix(" ") for piece in rest)])
        written += html.escape(broken, quote=False) if grammar.has_references else broken
        at += len(part)
    return written


def _width(text: str) -> int:
    """Return how many letters are as wide as a text; Chinese characters and the like are as wide as two."""
    wide = (character for character in text if east_asian_width(character) in "WF")
    return len(text) if text.isascii() else len(text) + sum(1 for _ in wide)


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


_MARK_BONUS = 1.5  # how many links a comma at the end of a part is worth
_DISTANCE = 8.0  # how many links the length of the sentence is worth


def divide(texts: Sequence[str], translated: Translated) -> list[Translated]:
    """Divide a translation: every part gets the words that its text is linked to, in their order.

    Where links cross, or are missing, the parts have the proportions of the texts. If the translation
    has fewer words than there are texts, the last parts are empty.

    Args:
        texts: Parts of the source, which was translated with a space between them.
        translated: The translation of all of them.
    """
    source, target = " ".join(texts), translated.text
    links = translated.links or WordLinks.between(source, target)
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    cuts = [0]
    for number, start in enumerate(starts[1:-1], 1):
        first, last = cuts[-1] + 1, len(links.target) - (len(texts) - number)
        ideal = start / len(source) * len(target)
        cuts.append(_find_cut(links, target, start, ideal, range(first, last + 1)))
    cuts.append(len(links.target))
    spans = [(a, b - 1) for a, b in pairwise(starts)]
    return [
        _part(translated.text, links, *each) for each in zip(spans, pairwise(cuts), strict=True)
    ]


def _find_cut(links: WordLinks, target: str, start: int, ideal: float, places: range) -> int:
    """Return the number of the first target word after a boundary of the source.

    Args:
        links: The words.
        target: The translation.
        start: Where the source begins behind the boundary.
        ideal: The same place in the translation, by the lengths.
        places: The numbers that are free.
    """
    words = links.target
    if not places:
        return min(places.start, len(words))
    boundary = bisect_left(links.source, (start, start))
    # A link counts for a cut that leaves it on its side.
    gains = [0] * (len(words) + 1)
    for source_word, target_word in links.pairs:
        gains[target_word + 1] += 1 if source_word < boundary else -1
    totals = [*accumulate(gains)]

    def rate(cut: int) -> float:
        at = words[cut][0] if cut < len(words) else len(target)
        mark = target[words[cut - 1][1] - 1] in ",;:.!?…–—、，；：。！？"
        return totals[cut] + _MARK_BONUS * mark - _DISTANCE * abs(at - ideal) / max(1, len(target))

    return max(places, key=rate)


def _part(target: str, links: WordLinks, span: Span, words: Span) -> Translated:
    """Return some words of a translation, with the links between them and those of a part of the text."""
    first, last = words
    if first == last:
        return Translated("")
    own, end = overlapped(links.source, span)
    start = links.target[first][0]
    return Translated(
        target[start : links.target[last - 1][1]],
        WordLinks(
            [(a - span[0], b - span[0]) for a, b in links.source[own:end]],
            [(a - start, b - start) for a, b in links.target[first:last]],
            [(s - own, t - first) for s, t in links.pairs if own <= s < end and first <= t < last],
        ),
    )
