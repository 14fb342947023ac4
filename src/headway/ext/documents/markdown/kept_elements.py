"""HTML elements in Markdown that are not translated, such as ``<kbd>`` in a paragraph and ``<div translate="no">`` around some."""

from collections.abc import Iterable, Iterator, Sequence

from markdown_it.token import Token

from headway.ext.documents.blocks import Part, find_partners, make_kept
from headway.ext.documents.html.elements import ENDED_BY, HIDDEN, is_kept, is_void
from headway.ext.documents.html.parsing import scan
from headway.ext.documents.html.tokens import Token as HtmlToken
from headway.ext.documents.html.tokens import tokenize


def leave_out_elements(tokens: Iterable[Token], language: str) -> Iterator[Token]:
    """Yield the tokens of a file that do not stand in an element that is not translated.

    For Markdown an empty line ends a block of HTML, but not the element that begins in it. An element that is open at the end
    of the file has lost its closing tag: it is as long as its block.

    Args:
        tokens: The tokens, from `make_parser`.
        language: Language code of the document; "" if it is not known.
    """
    name, depth, level = "", 0, 0
    left_out: list[Token] = []  # since the element began
    for token in tokens:
        if token.level < level:  # a list item or a quote ends, and what is in it
            depth = level = 0
        is_html = token.type == "html_block"
        if depth:
            depth, end = _follow(
                tokenize(token.content if is_html else _join_tags(token)), name, depth
            )
            if depth or not is_html:
                left_out.append(token)
                continue
            assert token.map is not None
            token.map[0] += token.content.count("\n", 0, end)
            token.content = token.content[end:]
        if is_html and token.content:
            *_, (kind, last) = scan(token.content, language)
            name = last[0].name
            if kind == "kept" and name and name not in ENDED_BY:
                depth, _ = _follow(last, name, 0)
                level = token.level
                left_out = []
        yield token
    if depth:
        yield from left_out


def _follow(tokens: Iterable[HtmlToken], name: str, depth: int) -> tuple[int, int]:
    """Return how often an element of a name is open behind tags, and how many characters of them it takes."""
    taken = 0
    for token in tokens:
        taken += len(token.text)
        if token.name == name and not is_void(token):
            depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth == 0:
            break
    return depth, taken


def _join_tags(token: Token) -> str:
    return "".join(part.content for part in token.children or [] if part.type == "html_inline")


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
