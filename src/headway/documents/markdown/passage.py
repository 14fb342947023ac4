"""A passage of a Markdown file: a paragraph, a heading, a cell of a table, or an HTML block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from headway.documents.blocks import Block, Part, make_nodes
from headway.documents.edits import Edit
from headway.documents.html.page import write_block as write_html
from headway.documents.markdown.inline import write_block
from headway.documents.paragraph import Translated


@dataclass(frozen=True)
class Passage:
    """A part of the file that has text.

    Attributes:
        kind: How its text is written.
        start: Where it starts in the file.
        parts: Its text and markup, whose sources together are its characters in the file.
    """

    kind: Literal["text", "cell", "html"]
    start: int
    parts: Sequence[Part]

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks of text."""
        return [node for node in make_nodes(self.parts) if isinstance(node, Block)]

    def replace(self, translations: Iterator[Translated]) -> Edit:
        """Return the passage with the next translations."""
        out = ""
        for node in make_nodes(self.parts):
            out += node if isinstance(node, str) else self._write_block(node, next(translations))
        end = self.start + sum(len(part.source) for part in self.parts)
        return Edit(self.start, end, out)

    def _write_block(self, block: Block, translated: Translated) -> str:
        if self.kind == "html":
            return write_html(block, translated)
        return write_block(block, translated, is_cell=self.kind == "cell")
