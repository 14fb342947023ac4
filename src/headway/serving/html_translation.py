"""Translation of HTML: every tag comes back once, around the translations of its words.

Inline tags follow the alignment of words. Tags between blocks, and elements that are not for
translation, stay as they are. Nothing is validated: what is not a tag is text.
"""

import html
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from headway.inference import Translator
from headway.serving.html_parsing import Block, Element, parse_html
from headway.serving.links import WordLinks
from headway.serving.passages import TextTranslation
from headway.serving.translation import TextTranslator


async def translate_pages(
    translator: TextTranslator, route: Sequence[Translator], sources: Sequence[str]
) -> list[TextTranslation]:
    """Translate the text of HTML documents or fragments.

    Returns:
        For each document its translation, with the sum of its blocks' scores.
    """
    if not route:
        return [TextTranslation(source) for source in sources]
    size, queue = sum(map(len, sources)), translator.queue
    pages = await queue.run_text_work(size, lambda: [parse_html(source) for source in sources])
    blocks = [node.text for page in pages for node in page if isinstance(node, Block)]
    found = iter(await translator.translate(route, blocks, align=True))
    return await queue.run_text_work(size, lambda: [join_page(page, found) for page in pages])


def join_page(nodes: Sequence[str | Block], found: Iterator[TextTranslation]) -> TextTranslation:
    """Join the nodes of a document, with the translations of its blocks."""
    out, score = [], 0.0
    for node in nodes:
        if isinstance(node, str):
            out.append(node)
        else:
            translation = next(found)
            out.append(place_tags(node, translation.text, translation.links or WordLinks()))
            score += translation.score
    return TextTranslation("".join(out), score)


def place_tags(block: Block, target: str, links: WordLinks) -> str:
    """Return the translation of a block with the block's tags around its words."""
    return _render(
        block, block.root, target, links, sorted(links.pairs), (0, len(links.target)),
        (0, len(target)),
    )  # fmt: skip


def _render(
    block: Block,
    element: Element,
    target: str,
    links: WordLinks,
    pairs: Sequence[tuple[int, int]],
    words: tuple[int, int],
    span: tuple[int, int],
) -> str:
    if not element.inner:
        return html.escape(target[span[0] : span[1]], quote=False)
    # Inside an element only the links between its own words count.
    own = _covered(links, element)
    pairs = [(s, t) for s, t in _between(pairs, own) if words[0] <= t < words[1]]
    placed: list[tuple[int, int, Element]] = []
    places: dict[tuple[int, int], tuple[int, int]] = {}  # several elements can cover the same words
    for child in element.inner:
        covered = _covered(links, child)
        if child.start == child.end:
            # A tag without content stands before the translation of the next source word.
            following = bisect_left(pairs, (covered[0], 0))
            at = pairs[following][1] if following < len(pairs) else words[1]
            placed.append((at, at, child))
            continue
        if covered not in places:
            places[covered] = _place(pairs, covered, own, words)
        placed.append((*places[covered], child))
    # In the order of the translation; elements at one place keep the order of the source.
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


def _covered(links: WordLinks, element: Element) -> tuple[int, int]:
    """Return the range of source words in an element; an empty range starts at the next word."""
    first = bisect_right(links.source, element.start, key=lambda word: word[1])
    last = max(first, bisect_left(links.source, element.end, key=lambda word: word[0]))
    return first, last


def _between(pairs: Sequence[tuple[int, int]], words: tuple[int, int]) -> Sequence[tuple[int, int]]:
    """Return the links of a range of source words; the pairs are sorted."""
    first, last = (bisect_left(pairs, (word, 0)) for word in words)
    return pairs[first:last]


def _place(
    pairs: Sequence[tuple[int, int]],
    covered: tuple[int, int],
    own: tuple[int, int],
    words: tuple[int, int],
) -> tuple[int, int]:
    """Return the range of target words for a range of source words, within an element's range."""
    (first, last), (low, high) = covered, words
    if covered == own:
        return words
    inside = [target for _, target in _between(pairs, covered)]
    if inside:
        return _densest(inside)
    # Without links the words keep their relative place.
    fraction = (first - own[0]) / max(1, own[1] - own[0])
    at = low + round(fraction * (high - low))
    return at, min(high, at + last - first)


def _densest(inside: Sequence[int]) -> tuple[int, int]:
    """Return the range that maximizes its linked words minus its other words."""
    best = (0, 0, 0)
    start = total = end = 0
    for word in sorted(set(inside)):
        total -= word - end  # the words in between
        if total <= 0:
            start, total = word, 0
        total, end = total + 1, word + 1
        if total > best[0]:
            best = (total, start, end)
    return best[1], best[2]


def _characters(
    block: Block,
    links: WordLinks,
    target: str,
    child: Element,
    first: int,
    last: int,
    span: tuple[int, int],
) -> tuple[int, int]:
    """Return where an element starts and ends in the translation, in characters."""
    if first >= last or first >= len(links.target):
        at = links.target[first][0] if first < len(links.target) else len(target.rstrip())
        at = min(max(at, span[0]), span[1])
        return at, at
    a, b = links.target[first][0], links.target[last - 1][1]
    # Punctuation beside the element in the source stays outside of it.
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
