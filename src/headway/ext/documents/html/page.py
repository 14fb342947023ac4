"""A document or a fragment of HTML as text: every tag comes back once, around the translations of its words.

Inline tags follow the alignment of words. Tags between blocks, and elements that are not for
translation, stay as they are. Nothing is validated: what is not a tag is text.
"""

import html
from collections.abc import Sequence

from headway.ext.documents.blocks import Block, flatten
from headway.ext.documents.html.parsing import parse_html
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.placing import place

_SPACES = " \t\n\f\r"


class HtmlPage:
    """The blocks of a document, and what stands between them.

    Args:
        source: HTML; any text is.
        language: Its language code; elements in other languages stay. "": it is not known.
    """

    def __init__(self, source: str, language: str = "") -> None:
        self.nodes = parse_html(source, language)
        self.paragraphs = [node for node in self.nodes if isinstance(node, Block)]

    def write(self, translations: Sequence[Translated]) -> str:
        """Return the document with its blocks replaced.

        Args:
            translations: One for each paragraph.
        """
        return write_nodes(self.nodes, translations)


def write_nodes(nodes: Sequence[str | Block], translations: Sequence[Translated]) -> str:
    """Return markup with its blocks replaced, each by one of the translations; lines end around them where they did."""
    found = iter(translations)
    return "".join(
        node if isinstance(node, str) else _keep_ends(node.source, write_block(node, next(found)))
        for node in nodes
    )


def _keep_ends(source: str, written: str) -> str:
    """Return the translation of a block with the white space of its source at each end where that has a line break."""
    before = source[: len(source) - len(source.lstrip(_SPACES))]
    after = source[len(source.rstrip(_SPACES)) :]
    if "\n" in before or "\r" in before:
        written = before + written.lstrip(_SPACES)
    if "\n" in after or "\r" in after:
        written = written.rstrip(_SPACES) + after
    return written


def write_block(block: Block, translated: Translated) -> str:
    """Return the translation of a block with the block's tags around its words.

    If the translation equals the text, the block is returned as the document has it.
    """
    if translated.text == block.text:
        return block.source
    return "".join(
        part if is_markup else html.escape(part, quote=False)
        for part, is_markup in flatten(place(block, translated))
    )
