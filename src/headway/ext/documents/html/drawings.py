"""Drawings (SVG) in HTML: their tags, and the texts in them that a reader sees."""

from collections.abc import Iterator, Sequence

from headway.ext.documents.html.elements import OpenElements, find_element_end, is_kept
from headway.ext.documents.html.tokens import Token

_WITH_TEXT = ("desc", "foreignobject", "text", "title")


def find_seen(tokens: Sequence[Token], language: str) -> Iterator[int]:
    """Yield the numbers of a drawing's tags and texts, but not those of untranslated elements.

    Args:
        tokens: The tokens of the drawing.
        language: Language code of the document; "" if it is not known.
    """
    inside, number = OpenElements(), 0
    while number < len(tokens):
        token, end = tokens[number], number + 1
        if is_kept(token, language) and token.name != "svg":
            end = find_element_end(tokens, number, inside)
        else:
            inside.follow(token)
            is_text = token.kind == "text" and any(name in inside for name in _WITH_TEXT)
            if is_text or token.kind == "open":
                yield number
        number = end
