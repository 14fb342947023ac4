"""Images of Markdown. Their alternative texts are texts of their own, and no part of the sentence around them."""

from collections.abc import Callable, Iterator, Sequence

from headway.ext.documents.blocks import Block, Part, find_partners, join_nodes, make_nodes

OPENING = "!["


def find_alternatives(parts: Sequence[Part]) -> list[Block]:
    """Return the alternative texts of a passage in their order."""
    nodes = (make_nodes(parts[start + 1 : end]) for start, end in _find_images(parts))
    return [node for some in nodes for node in some if isinstance(node, Block)]


def join_images(parts: Sequence[Part], write: Callable[[Block], str]) -> list[Part]:
    """Return the parts of a passage with each image as one part without text.

    Args:
        parts: The parts.
        write: Returns the Markdown of an alternative text.
    """
    joined, at = [], 0
    for start, end in _find_images(parts):
        joined += [*parts[at:start], _join(parts[start : end + 1], write)]
        at = end + 1
    return [*joined, *parts[at:]]


def _find_images(parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first and the last part of each image that stands in no other one."""
    partner, at = find_partners(parts), 0
    for number, part in enumerate(parts):
        if number >= at and part.source == OPENING and number in partner:
            at = partner[number]
            yield number, at


def _join(image: Sequence[Part], write: Callable[[Block], str]) -> Part:
    """Return an image with another alternative text; if that changes, a reference no longer has its name in it."""
    opening, *inner, closing = image
    own = "".join(part.source for part in inner)
    text = join_nodes(make_nodes(inner), write)
    end = closing.source if text == own else closing.text or closing.source
    return Part("point", opening.source + text + end)
