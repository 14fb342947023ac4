"""HTML taken apart: block tags, and runs of text with the inline elements in them.

Nothing is validated: what is no tag is text.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# A tag, without what follows an unclosed quote; possessive, so that no input takes long.
_TAG = re.compile(r"""<(/?)([a-zA-Z][\w:-]*+)((?:[^<>"']|"[^"]*+"|'[^']*+')*+)>""")
# Its attributes: names, and values with quotes or none; quotes without a name are none.
_ATTRIBUTE = re.compile(
    r""""[^"]*"|'[^']*'|([^\s"'=/]++)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?"""
)
_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")  # of a character; eight digits are none's already
_BREAK = re.compile(
    r"(?<!\s)\s*[\n\r]\s*"
)  # begins with its run of white space, so that it is quick
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center",
    "col", "colgroup", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup",
    "hr", "html", "legend", "li", "link", "main", "menu", "meta", "nav", "ol", "optgroup",
    "option", "p", "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
    "title", "tr", "ul",
})  # fmt: skip
KEPT = frozenset({
    "script", "style", "code", "kbd", "samp", "var", "pre", "textarea", "svg", "math", "template",
    "noscript", "iframe", "object",
})  # fmt: skip
DEEPEST = 64  # inline elements in one another; tags further in stay at their places
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
})  # fmt: skip


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
        if not (tag[1] or void) and (name in KEPT or _says_no(tag[3])):
            at = _closing(source, at, name)
            found.append(("kept", name, source[start:at]))
        elif name in BLOCKS:
            found.append(("block", name, source[start:at]))
        elif tag[1]:
            found.append(("close", name, source[start:at]))
        else:
            found.append(("void" if void else "open", name, source[start:at]))
    return found


def _says_no(attributes: str) -> bool:
    """Whether ``translate="no"`` or ``class="notranslate"`` is among a tag's attributes."""
    for name, *values in _ATTRIBUTE.findall(attributes):
        name, value = name.lower(), "".join(values)
        if name == "translate" and value.lower() == "no":
            return True
        if name == "class" and "notranslate" in value.split():
            return True
    return False


def _closing(source: str, at: int, name: str) -> int:
    """Return where the element that begins before ``at`` ends; the end of the text if nowhere."""
    depth = 1
    same = re.compile(rf"<(/?){re.escape(name)}(?![\w:-])[^<>]*+>", re.IGNORECASE)
    for tag in same.finditer(source, at):
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
            text += _BREAK.sub(" ", html.unescape(_NUMBER.sub(r"&#\1", raw)))
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
