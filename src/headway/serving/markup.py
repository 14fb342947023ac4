"""HTML in, HTML out: every tag comes back once, around the words that its words became.

Inline tags follow the alignment of words; tags between blocks, and what is not for translation, stay
as they are. Nothing is validated: what is no tag is text.
"""

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.serving.interpreter import Interpreter
from headway.serving.passages import Links
from headway.translation import Translator

# A tag, without what follows an unclosed quote; possessive, so that no input takes long.
_TAG = re.compile(r"""<(/?)([a-zA-Z][\w:-]*+)((?:[^<>"']|"[^"]*+"|'[^']*+')*+)>""")
_BREAK = re.compile(r"\s*[\n\r]\s*")
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "br",
        "button",
        "caption",
        "center",
        "col",
        "colgroup",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "link",
        "main",
        "menu",
        "meta",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ]
)
KEPT = frozenset(
    [
        "script",
        "style",
        "code",
        "kbd",
        "samp",
        "var",
        "pre",
        "textarea",
        "svg",
        "math",
        "template",
        "noscript",
        "iframe",
        "object",
    ]
)
DEEPEST = 64  # inline elements in one another; tags further in stay at their places
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)


@dataclass
class Element:
    """An inline element, or a place in the text where something stands that is no text.

    Attributes:
        start: Where in the block's text it begins.
        end: Where it ends.
        before: Its opening tag, or all of it.
        after: Its closing tag.
        inner: The elements in it.
    """

    start: int
    end: int
    before: str = ""
    after: str = ""
    inner: list["Element"] = field(default_factory=list)


@dataclass
class Block:
    """A run of text between two block tags, with its inline elements."""

    text: str
    root: Element


async def translate_html(interpreter: Interpreter, route: Sequence[Translator], source: str) -> str:
    """Translate the text of an HTML document or of a piece of one."""
    if not route:
        return source
    pieces = parse(source)
    blocks = [piece for piece in pieces if isinstance(piece, Block)]
    found = await interpreter.translate(route, [block.text for block in blocks], align=True)
    translated = iter(found)
    out = []
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
        else:
            rendering = next(translated)
            out.append(render(piece, rendering.text, rendering.links or Links()))
    return "".join(out)


def tokens(source: str) -> list[tuple[str, str, str]]:
    """Cut HTML into (kind, name, text): kinds are text, open, close, void, kept and block."""
    found: list[tuple[str, str, str]] = []
    at = 0
    closed = source.rfind("-->")
    while at < len(source):
        start = source.find("<", at)
        if start < 0:
            found.append(("text", "", source[at:]))
            break
        if start > at:
            found.append(("text", "", source[at:start]))
        if source.startswith("<!--", start) and closed >= start + 4:
            at = source.index("-->", start + 4) + 3
            found.append(("kept", "", source[start:at]))
            continue
        end = source.find(">", start)
        if source.startswith(("<!", "<?"), start) and end > 0:
            at = end + 1
            found.append(("block", "", source[start:at]))
            continue
        tag = _TAG.match(source, start)
        if tag is None:
            at = start + 1
            found.append(("text", "", "<"))
            continue
        at, name = tag.end(), tag[2].lower()
        void = name in VOID or tag[3].endswith("/")
        untouched = name in KEPT or 'translate="no"' in tag[3] or "notranslate" in tag[3]
        if untouched and not tag[1] and not void:
            at = _closing(source, at, name)
            found.append(("kept", name, source[start:at]))
        elif name in BLOCKS:
            found.append(("block", name, source[start:at]))
        elif tag[1]:
            found.append(("close", name, source[start:at]))
        else:
            found.append(("void" if void else "open", name, source[start:at]))
    return found


def _closing(source: str, at: int, name: str) -> int:
    """Return where the element that begins before ``at`` ends; the end of the text if nowhere."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}\b[^<>]*+>", re.IGNORECASE).finditer(source, at):
        depth += -1 if tag[1] else 0 if tag[0].endswith("/>") else 1
        if depth == 0:
            return tag.end()
    return len(source)


def parse(source: str) -> list[str | Block]:
    """Take HTML apart into block tags, as they are, and the blocks of text between them."""
    pieces: list[str | Block] = []
    run: list[tuple[str, str, str]] = []
    for token in [*tokens(source), ("block", "", "")]:
        if token[0] != "block":
            run.append(token)
            continue
        if any(kind == "text" and text.strip() for kind, _, text in run):
            pieces.append(_block(run))
        else:
            pieces.append("".join(text for _, _, text in run))
        pieces.append(token[2])
        run = []
    return pieces


def _block(run: Sequence[tuple[str, str, str]]) -> Block:
    # Which tags find their partner; one without stays a tag, at its place.
    partner: dict[int, int] = {}
    stack: list[tuple[str, int]] = []
    for number, (kind, name, _) in enumerate(run):
        if kind == "open" and len(stack) < DEEPEST:
            stack.append((name, number))
        elif kind == "close" and any(known == name for known, _ in stack):
            while stack:
                known, opened = stack.pop()
                if known == name:
                    partner[opened] = number
                    partner[number] = opened
                    break
    text = ""
    root = Element(0, 0)
    path = [root]
    for number, (kind, _, raw) in enumerate(run):
        if kind == "text":
            text += _BREAK.sub(" ", html.unescape(raw))
        elif number in partner and kind == "open":
            element = Element(len(text), 0, before=raw)
            path[-1].inner.append(element)
            path.append(element)
        elif number in partner:
            element = path.pop()
            element.end, element.after = len(text), raw
        else:
            path[-1].inner.append(Element(len(text), len(text), before=raw))
    root.end = len(text)
    return Block(text, root)


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
