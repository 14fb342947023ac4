"""A text of a Markdown file: a paragraph, a heading, a cell of a table, or an HTML block."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from headway.ext.documents.blocks import Block, Part, join_nodes, make_nodes
from headway.ext.documents.html.html_page import write_html
from headway.ext.documents.html.values import Value, find_values, replace_values
from headway.ext.documents.markdown.escapes import Escapes
from headway.ext.documents.markdown.images import find_alternatives, join_images
from headway.ext.documents.markdown.titles import find_title
from headway.ext.documents.markdown.writing import write_block
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.text_file import Edit

_END_OF_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class TextBlock:
    """A part of the file that has text.

    Attributes:
        kind: How its text is written.
        start: Where it starts in the file.
        parts: Its text and markup, whose sources together are its characters in the file.
        language: Language code of the file; "" if it is not known.
        read: Reads the Markdown of a block.
        names_itself: Whether it is a heading whose text is its name in links of the file.
    """

    kind: Literal["text", "cell", "html"]
    start: int
    parts: Sequence[Part]
    language: str
    read: Callable[[str], Block]
    names_itself: bool = False

    @cached_property
    def paragraphs(self) -> list[Block]:
        """The texts in markup, such as attributes and titles that a reader sees, then those of images, then the blocks."""
        texts = [block for part in self.parts for block in self._find_texts(part)]
        nodes = make_nodes(join_images(self.parts, lambda alternative: alternative.source))
        blocks = [node for node in nodes if isinstance(node, Block)]
        return [*texts, *find_alternatives(self.parts), *blocks]

    def edit(self, translations: Sequence[Translated]) -> Iterator[Edit]:
        """Yield the passage with its translations."""
        left = iter(translations)

        def write(block: Block) -> str:
            return self._write_block(block, next(left))

        parts = [self._translate_markup(part, left) for part in self.parts]
        nodes = make_nodes(join_images(parts, write))
        end = self.start + sum(len(part.source) for part in self.parts)
        yield Edit(self.start, end, join_nodes(nodes, write))

    def _find_texts(self, part: Part) -> list[Block]:
        """Return the texts in markup."""
        if title := find_title(part):
            return [title.block]
        return [block for value in self._find_values(part) for block in value.blocks]

    def _translate_markup(self, part: Part, translations: Iterator[Translated]) -> Part:
        """Return markup with the next translations of the texts in it; any other part stays."""
        if title := find_title(part):
            source = title.replace(part.source, next(translations))
        else:
            source = replace_values(part.source, self._find_values(part), translations)
        if self.kind == "cell" and source != part.source:
            source = _END_OF_CELL.sub(r"\\|", source)
        return part._replace(source=source)

    def _write_block(self, block: Block, translated: Translated) -> str:
        if self.kind == "html":
            return write_html(block, translated)
        is_cell = self.kind == "cell"
        return write_block(block, translated, self._escapes, self.read, is_cell=is_cell)

    @cached_property
    def _escapes(self) -> Escapes:
        return Escapes(self.parts)

    def _find_values(self, part: Part) -> list[Value]:
        """Return the texts in an HTML tag that have one line.

        A value in several lines can have marks of a quote in it, and a line break that is written as ``&#10;`` would
        become one.
        """
        is_tag = part.kind not in ("text", "code") and part.source.startswith("<")
        if not is_tag or "=" not in part.source:
            return []

        def has_line_break(value: Value) -> bool:
            texts = part.source[value.start : value.end], *(block.text for block in value.blocks)
            return any(len(text.splitlines()) > 1 for text in texts)

        found = find_values(part.source, self.language)
        return [value for value in found if not has_line_break(value)]
