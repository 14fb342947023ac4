"""A document or a fragment of HTML as text: every tag comes back once, around the translations of its words.

Inline tags follow the alignment of words. Tags between blocks, and elements that are not for
translation, stay as they are. Nothing is validated: what is not a tag is text.
"""

import html
from collections.abc import Sequence
from functools import partial

from headway.ext.documents.blocks import Block, join_nodes, write_block
from headway.ext.documents.html.parsing import parse_html
from headway.ext.documents.paragraph import Translated

_SPACES = " \t\n\f\r"


class Page:
    """The blocks of a text with markup, and what stands between them.

    Args:
        nodes: Both, in their order.
    """

    def __init__(self, nodes: Sequence[str | Block]) -> None:
        self.nodes = nodes
        self.paragraphs = [node for node in nodes if isinstance(node, Block)]

    def write(self, translations: Sequence[Translated]) -> str:
        """Return the document with its blocks replaced.

        Args:
            translations: One for each paragraph.
        """
        return write_nodes(self.nodes, translations)


class HtmlPage(Page):
    """A document or a fragment of HTML.

    Args:
        source: HTML; any text is.
        language: Its language code; elements in other languages stay. "": it is not known.
    """

    def __init__(self, source: str, language: str = "") -> None:
        super().__init__(parse_html(source, language))


def write_nodes(nodes: Sequence[str | Block], translations: Sequence[Translated]) -> str:
    """Return markup with its blocks replaced, each by one of the translations; lines end around them where they did."""
    found = iter(translations)
    return join_nodes(nodes, lambda each: _keep_ends(each.source, write_html(each, next(found))))


def _keep_ends(source: str, written: str) -> str:
    """Return the translation of a block with the white space of its source at each end where that has a line break."""
    before = source[: len(source) - len(source.lstrip(_SPACES))]
    after = source[len(source.rstrip(_SPACES)) :]
    if "\n" in before or "\r" in before:
        written = before + written.lstrip(_SPACES)
    if "\n" in after or "\r" in after:
        written = written.rstrip(_SPACES) + after
    return written


def write_html(block: Block, translated: Translated) -> str:
    """Return the HTML of a translated block; see `write_block`."""
    return write_block(block, translated, partial(html.escape, quote=False))
