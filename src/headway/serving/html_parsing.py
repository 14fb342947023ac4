"""HTML split into block tags and blocks of text with inline elements.

Nothing is validated: what is not a tag is text.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# A tag; an unclosed quote ends it. Possessive repeats keep the time linear.
_TAG = re.compile(r"""<(/?)([a-zA-Z][\w:-]*+)((?:[^<>"']|"[^"]*+"|'[^']*+')*+)>""")
# An attribute with or without a value. Quotes without a name are not an attribute.
_ATTRIBUTE = re.compile(
    r""""[^"]*"|'[^']*'|([^\s"'=/]++)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?"""
)
_NUMBER = re.compile(
    r"&#0*([0-9]{1,8})[0-9]*"
)  # a character reference; no character has eight digits
_LINE_BREAK = re.compile(r"(?<!\s)\s*[\n\r]\s*")
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
MAX_DEPTH = 64  # nested inline elements; deeper tags stay where they are
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
})  # fmt: skip


@dataclass
class Element:
    """An inline element, or a tag or comment without text.

    Attributes:
        start: Where the element starts in the block's text.
        end: Where it ends.
        before: The opening tag, or the whole element if it has no text.
        after: The closing tag.
        inner: The elements inside.
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


def scan(source: str) -> list[tuple[str, str, str]]:
    """Split HTML into (kind, name, text): kinds are text, open, close, void, kept and block."""
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
        if not (tag[1] or void) and (name in KEPT or _is_untranslated(tag[3])):
            at = _find_end(source, at, name)
            found.append(("kept", name, source[start:at]))
        elif name in BLOCKS:
            found.append(("block", name, source[start:at]))
        elif tag[1]:
            found.append(("close", name, source[start:at]))
        else:
            found.append(("void" if void else "open", name, source[start:at]))
    return found


def _is_untranslated(attributes: str) -> bool:
    """Return whether a tag has the attribute ``translate="no"`` or ``class="notranslate"``."""
    for name, *values in _ATTRIBUTE.findall(attributes):
        name, value = name.lower(), "".join(values)
        if name == "translate" and value.lower() == "no":
            return True
        if name == "class" and "notranslate" in value.split():
            return True
    return False


def _find_end(source: str, at: int, name: str) -> int:
    """Return where the element ends whose opening tag ends at ``at``; an unclosed one: at the end."""
    depth = 1
    same = re.compile(rf"<(/?){re.escape(name)}(?![\w:-])[^<>]*+>", re.IGNORECASE)
    for tag in same.finditer(source, at):
        depth += -1 if tag[1] else 0 if tag[0].endswith("/>") else 1
        if depth == 0:
            return tag.end()
    return len(source)


def parse_html(source: str) -> list[str | Block]:
    """Split HTML into block tags, which stay as they are, and the blocks of text between them."""
    nodes: list[str | Block] = []
    run: list[tuple[str, str, str]] = []
    for part in [*scan(source), ("block", "", "")]:
        if part[0] != "block":
            run.append(part)
            continue
        if any(kind == "text" and text.strip() for kind, _, text in run):
            nodes.append(_make_block(run))
        else:
            nodes.append("".join(text for _, _, text in run))
        nodes.append(part[2])
        run = []
    return nodes


def _make_block(run: Sequence[tuple[str, str, str]]) -> Block:
    # Opening and closing tags find their partners; a tag without one stays where it is.
    partner: dict[int, int] = {}
    stack: list[tuple[str, int]] = []
    for number, (kind, name, _) in enumerate(run):
        if kind == "open" and len(stack) < MAX_DEPTH:
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
            text += _LINE_BREAK.sub(" ", html.unescape(_NUMBER.sub(r"&#\1", raw)))
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
