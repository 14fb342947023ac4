"""HTML elements in a Markdown paragraph that are not translated, such as ``<kbd>``."""

from collections.abc import Sequence

from headway.documents.blocks import Part, find_partners, make_kept
from headway.documents.html.elements import HIDDEN, is_kept
from headway.documents.html.tokens import tokenize


def keep_elements(parts: Sequence[Part], language: str) -> list[Part]:
    """Return the parts of a paragraph with each element that is not translated as one part.

    Args:
        parts: The parts.
        language: Language code of the document; "" if it is not known.
    """
    partner, kept, at = find_partners(parts), [], 0
    while at < len(parts):
        end = partner[at] + 1 if at in partner and _is_kept(parts[at], language) else at + 1
        kept.append(parts[at] if end == at + 1 else _join(parts[at:end]))
        at = end
    return kept


def _is_kept(part: Part, language: str) -> bool:
    is_tag = part.kind == "open" and part.name.startswith("<")
    return is_tag and is_kept(next(tokenize(part.source)), language)


def _join(parts: Sequence[Part]) -> Part:
    """Return an element as one part."""
    is_hidden = parts[0].name.strip("<>") in HIDDEN
    text = "".join(part.text for part in parts if part.kind in ("text", "code"))
    return make_kept("".join(part.source for part in parts), "" if is_hidden else text)
