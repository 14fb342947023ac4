"""HTML split into block tags and blocks of text with inline elements. Nothing is validated."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from headway.documents.html.elements import BLOCKS, KEPT, OpenElements, find_element_end, is_void
from headway.documents.html.tokens import Token, tokenize
from headway.documents.paragraph import Element, Paragraph

_NUMBER = re.compile(
    r"&#0*([0-9]{1,8})[0-9]*"
)  # a character reference; no character has eight digits
_LINE_BREAK = re.compile(r"(?<!\s)\s*[\n\r]\s*")
MAX_DEPTH = 64  # nested inline elements; deeper tags stay where they are


@dataclass(frozen=True)
class Tag:
    """The markup of an inline element.

    Attributes:
        before: The opening tag, or the whole element if it has no text.
        after: The closing tag.
    """

    before: str
    after: str = ""


@dataclass
class Block(Paragraph[Tag]):
    """A run of text between two block tags, with its inline elements.

    Attributes:
        source: The text and the tags as they stand in the document.
    """

    source: str = ""


def scan(source: str) -> list[tuple[str, str, str]]:
    """Split HTML into (kind, name, text): kinds are text, open, close, void, kept and block."""
    found: list[tuple[str, str, str]] = []
    tokens, around, at = list(tokenize(source)), OpenElements(), 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        name, kind = token.name, str(token.kind)
        if kind == "other":
            kind = "block" if token.text[:9].lower() == "<!doctype" else "kept"
        elif kind == "open" and not is_void(token) and (name in KEPT or _is_untranslated(token)):
            kind, end = "kept", find_element_end(tokens, at, around)
        elif name in BLOCKS:
            kind = "block"
            around.follow(token)
        elif kind == "open" and is_void(token):
            kind = "void"
        found.append((kind, name, "".join(part.text for part in tokens[at:end])))
        at = end
    return found


def _is_untranslated(token: Token) -> bool:
    """Return whether a tag has the attribute ``translate="no"`` or the class ``notranslate``."""
    if token.attributes.get("translate", "").lower() == "no":
        return True
    return "notranslate" in token.attributes.get("class", "").split()


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
    block = Block("", source="".join(raw for _, _, raw in run))
    path: list[Element[Tag]] = []
    for number, (kind, _, raw) in enumerate(run):
        inner = path[-1].inner if path else block.elements
        if kind == "text":
            text += _LINE_BREAK.sub(" ", html.unescape(_NUMBER.sub(r"&#\1", raw)))
        elif number in partner and kind == "open":
            path.append(Element(len(text), 0, Tag(raw, run[partner[number]][2])))
            inner.append(path[-1])
        elif number in partner:
            path.pop().end = len(text)
        else:
            inner.append(Element(len(text), len(text), Tag(raw)))
    block.text = text
    return block
