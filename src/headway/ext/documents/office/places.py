"""A text of a part and its place in the tree of XML."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headway.ext.documents.blocks import Block
from headway.ext.documents.paragraph import Paragraph, Translated, walk
from headway.text import is_translatable


@dataclass
class Place:
    """Texts of a part that stand in one place.

    Attributes:
        paragraphs: The texts.
        write: Writes their translations into the tree.
        limit: The most characters that each may have; longer ones are not written.
    """

    paragraphs: Sequence[Paragraph[Any]]
    write: Callable[[Sequence[Translated]], None]
    limit: int = 1 << 30


def place_block(block: Block, write: Callable[[Translated], None]) -> Place:
    """Return the place of a paragraph; one whose text all stays has none.

    Args:
        block: The paragraph.
        write: Writes its translation into the tree.
    """
    blocks = [block] if is_translatable(_find_free_text(block)) else []
    return Place(blocks, lambda translations: write(translations[0]))


def _find_free_text(block: Block) -> str:
    """Return the text of a paragraph, without the elements whose text is not translated."""
    text, at = "", 0
    for element in walk(block.elements):
        if element.is_kept:
            text += block.text[at : element.start]
            at = element.end
    return text + block.text[at:]
