"""HTML in, HTML out: every tag comes back once, around the words that its words became.

Inline tags follow the alignment of words; tags between blocks, and what is not for translation, stay
as they are. Nothing is validated: what is no tag is text.
"""

import asyncio
import html
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from headway.serving.interpreter import SHORT, Interpreter, Rendering
from headway.serving.passages import Links
from headway.serving.tags import Block, Element, parse
from headway.translation import Translator

P = ParamSpec("P")
T = TypeVar("T")


async def translate_html(interpreter: Interpreter, route: Sequence[Translator], source: str) -> str:
    """Translate the text of an HTML document or of a piece of one."""
    if not route:
        return source
    pieces = await aside(source, parse, source)
    blocks = [piece for piece in pieces if isinstance(piece, Block)]
    found = await interpreter.translate(route, [block.text for block in blocks], align=True)
    return await aside(source, assemble, pieces, found)


async def aside(source: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do some work; for a long text in a thread, so that other clients do not wait."""
    if len(source) < SHORT:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


def assemble(pieces: Sequence[str | Block], found: Sequence[Rendering]) -> str:
    """Put a document together from its pieces and the translations of its blocks."""
    translated = iter(found)
    out = []
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
        else:
            rendering = next(translated)
            out.append(render(piece, rendering.text, rendering.links or Links()))
    return "".join(out)


def render(block: Block, target: str, links: Links) -> str:
    """Put a block's elements around the words of its translation."""
    linked: dict[int, list[int]] = {}
    for source, word in links.pairs:
        linked.setdefault(source, []).append(word)
    # White space at the ends belongs to the root, and words to what they are linked with.
    return _render(
        block, block.root, target, links, linked, (0, len(links.target)), (0, len(target))
    )


def _render(
    block: Block,
    element: Element,
    target: str,
    links: Links,
    linked: dict[int, list[int]],
    words: tuple[int, int],
    span: tuple[int, int],
) -> str:
    own = _covered(links, element)
    placed: list[tuple[int, int, Element]] = []
    for child in element.inner:
        placed.append((*_place(links, linked, child, own, words), child))
    # In the order of the translation; those at one place keep the source's.
    placed.sort(key=lambda item: (item[0], item[1]))
    out, at, word = "", span[0], words[0]
    for first, last, child in placed:
        first = max(first, word)
        last = max(first, last)
        a, b = _characters(block, links, target, child, first, last, (at, span[1]))
        out += html.escape(target[at:a], quote=False)
        out += child.before
        out += _render(block, child, target, links, linked, (first, last), (a, b))
        out += child.after
        at, word = b, last
    return out + html.escape(target[at : span[1]], quote=False)


def _covered(links: Links, element: Element) -> tuple[int, int]:
    """Return the range of source words that an element touches; empty: the next word's number."""
    first = bisect_right(links.source, element.start, key=lambda word: word[1])
    last = max(first, bisect_left(links.source, element.end, key=lambda word: word[0]))
    return first, last


def _place(
    links: Links,
    linked: dict[int, list[int]],
    child: Element,
    own: tuple[int, int],
    words: tuple[int, int],
) -> tuple[int, int]:
    """Return the range of target words for an element, within its parent's."""
    first, last = _covered(links, child)
    low, high = words
    if child.start == child.end:
        # Before the word that the next source word became, or behind all.
        for source in range(first, own[1]):
            here = [w for w in linked.get(source, []) if low <= w < high]
            if here:
                return min(here), min(here)
        return high, high
    if (first, last) == own:
        return words
    inside = {w for s in range(first, last) for w in linked.get(s, []) if low <= w < high}
    if inside:
        return _densest(inside)
    # Nothing is linked with it: where it would be if words kept their places.
    share = (first - own[0]) / max(1, own[1] - own[0])
    at = low + round(share * (high - low))
    return at, min(high, at + last - first)


def _densest(inside: set[int]) -> tuple[int, int]:
    """Return the range with the most words inside, less those that are not."""
    best = (0, 0, 0)
    start = total = 0
    for word in range(min(inside), max(inside) + 1):
        if total <= 0:
            start, total = word, 0
        total += 1 if word in inside else -1
        if total > best[0]:
            best = (total, start, word + 1)
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
