"""HTML in, HTML out: every tag comes back once, around the words that its words became.

Inline tags follow the alignment of words; tags between blocks, and what is not for translation, stay
as they are. Nothing is validated: what is no tag is text.
"""

import html
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from headway.inference import Translator
from headway.serving.interpreter import Interpreter
from headway.serving.passages import Links
from headway.serving.rendering import Rendering
from headway.serving.tags import Block, Element, parse


async def translate_pages(
    interpreter: Interpreter, route: Sequence[Translator], sources: Sequence[str]
) -> list[Rendering]:
    """Translate the text of HTML documents or of pieces of such.

    Returns:
        For each its translation, with the sum of its blocks' scores.
    """
    if not route:
        return [Rendering(source) for source in sources]
    size, aside = sum(map(len, sources)), interpreter.batcher.aside
    pages = await aside(size, lambda: [parse(source) for source in sources])
    blocks = [piece.text for page in pages for piece in page if isinstance(piece, Block)]
    found = iter(await interpreter.translate(route, blocks, align=True))
    return await aside(size, lambda: [assemble(page, found) for page in pages])


def assemble(pieces: Sequence[str | Block], found: Iterator[Rendering]) -> Rendering:
    """Put a document together from its pieces and the translations of its blocks."""
    out, score = [], 0.0
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
        else:
            rendering = next(found)
            out.append(render(piece, rendering.text, rendering.links or Links()))
            score += rendering.score
    return Rendering("".join(out), score)


def render(block: Block, target: str, links: Links) -> str:
    """Put a block's elements around the words of its translation."""
    # White space at the ends belongs to the root, and words to what they are linked with.
    return _render(
        block, block.root, target, links, sorted(links.pairs), (0, len(links.target)),
        (0, len(target)),
    )  # fmt: skip


def _render(
    block: Block,
    element: Element,
    target: str,
    links: Links,
    pairs: Sequence[tuple[int, int]],
    words: tuple[int, int],
    span: tuple[int, int],
) -> str:
    if not element.inner:
        return html.escape(target[span[0] : span[1]], quote=False)
    # Of the links only those between an element's own words count for what is in it.
    own = _covered(links, element)
    pairs = [(s, t) for s, t in _between(pairs, own) if words[0] <= t < words[1]]
    placed: list[tuple[int, int, Element]] = []
    places: dict[tuple[int, int], tuple[int, int]] = {}  # one word can have many elements
    for child in element.inner:
        covered = _covered(links, child)
        if child.start == child.end:
            # Before the word that the next source word became, or behind all.
            following = bisect_left(pairs, (covered[0], 0))
            at = pairs[following][1] if following < len(pairs) else words[1]
            placed.append((at, at, child))
            continue
        if covered not in places:
            places[covered] = _place(pairs, covered, own, words)
        placed.append((*places[covered], child))
    # In the order of the translation; those at one place keep the source's.
    placed.sort(key=lambda item: (item[0], item[1]))
    out, at, word = "", span[0], words[0]
    for first, last, child in placed:
        first = max(first, word)
        last = max(first, last)
        a, b = _characters(block, links, target, child, first, last, (at, span[1]))
        out += html.escape(target[at:a], quote=False)
        out += child.before
        out += _render(block, child, target, links, pairs, (first, last), (a, b))
        out += child.after
        at, word = b, last
    return out + html.escape(target[at : span[1]], quote=False)


def _covered(links: Links, element: Element) -> tuple[int, int]:
    """Return the range of source words that an element touches; empty: the next word's number."""
    first = bisect_right(links.source, element.start, key=lambda word: word[1])
    last = max(first, bisect_left(links.source, element.end, key=lambda word: word[0]))
    return first, last


def _between(pairs: Sequence[tuple[int, int]], words: tuple[int, int]) -> Sequence[tuple[int, int]]:
    """Return the links of a range of source words; all are in their order."""
    first, last = (bisect_left(pairs, (word, 0)) for word in words)
    return pairs[first:last]


def _place(
    pairs: Sequence[tuple[int, int]],
    covered: tuple[int, int],
    own: tuple[int, int],
    words: tuple[int, int],
) -> tuple[int, int]:
    """Return the range of target words for some source words, within the element's."""
    (first, last), (low, high) = covered, words
    if covered == own:
        return words
    inside = [target for _, target in _between(pairs, covered)]
    if inside:
        return _densest(inside)
    # Nothing is linked with it: where it would be if words kept their places.
    share = (first - own[0]) / max(1, own[1] - own[0])
    at = low + round(share * (high - low))
    return at, min(high, at + last - first)


def _densest(inside: Sequence[int]) -> tuple[int, int]:
    """Return the range with the most words inside, less those that are not."""
    best = (0, 0, 0)
    start = total = end = 0
    for word in sorted(set(inside)):
        total -= word - end  # those in between
        if total <= 0:
            start, total = word, 0
        total, end = total + 1, word + 1
        if total > best[0]:
            best = (total, start, end)
    return best[1], best[2]


def _characters(
    block: Block,
    links: Links,
    target: str,
    child: Element,
    first: int,
    last: int,
    span: tuple[int, int],
) -> tuple[int, int]:
    """Return where an element begins and ends in the translation, in characters."""
    if first >= last or first >= len(links.target):
        at = links.target[first][0] if first < len(links.target) else len(target.rstrip())
        at = min(max(at, span[0]), span[1])
        return at, at
    a, b = links.target[first][0], links.target[last - 1][1]
    # Punctuation at a word's end belongs to the element only if it did in the source.
    if block.text[child.end : child.end + 1].strip() and _is_mark(block.text[child.end]):
        while b - 1 > a and _is_mark(target[b - 1]):
            b -= 1
    if child.start and _is_mark(block.text[child.start - 1]):
        while a + 1 < b and _is_mark(target[a]):
            a += 1
    a = min(max(a, span[0]), span[1])
    return a, min(max(b, a), span[1])


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
