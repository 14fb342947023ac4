"""Titles of links, images and definitions of links: ``[text](address "title")``."""

import re
from typing import NamedTuple

from markdown_it.common.utils import unescapeAll

from headway.ext.documents.blocks import Block, Part, make_node, write_block
from headway.ext.documents.html.templates import TEMPLATE, make_template
from headway.ext.documents.paragraph import Translated
from headway.text import is_translatable

# From the bracket that ends the label to the end of the link; the parser has found that it is one. A definition without an
# address is a comment: [//]: # (This is a comment)
_TITLE = re.compile(
    r"""
    \](?:\(|:(?!\s*+(?:\#|<>)\s)) \s*+ (?:<[^<>\n]*+>|\S++) \s++
    ( "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+' | \((?:[^()\\\n]|\\.)*+\) )
    \s*+ \)? \s*+ \Z
    """,
    re.VERBOSE,
)
_NAMES = ("link", "image", "definition")


class Title(NamedTuple):
    """A title, and where it stands in the end of its link, without quotes."""

    start: int
    end: int
    block: Block

    def replace(self, source: str, translated: Translated) -> str:
        """Return the end of a link with a translated title."""
        quotes = re.escape(source[self.start - 1] + source[self.end])
        special = rf"[{quotes}]|\\(?=[!-/:-@\[-`{{-~]|\Z)|&(?=#?\w+;)"
        written = write_block(
            self.block, translated, lambda text: re.sub(special, r"\\\g<0>", text)
        )
        return source[: self.start] + written + source[self.end :]


def find_title(part: Part) -> Title | None:
    """Return the title in the end of a link if it has one in one line."""
    found = _TITLE.match(part.source) if part.kind == "close" and part.name in _NAMES else None
    if not found:
        return None
    start, end = found.start(1) + 1, found.end(1) - 1
    node = make_node([
        make_template(raw) if number % 2 else Part("text", raw, unescapeAll(raw))
        for number, raw in enumerate(TEMPLATE.split(part.source[start:end]))
        if raw
    ])  # fmt: skip
    if isinstance(node, str) or not is_translatable(node.text):
        return None
    return Title(start, end, node)
