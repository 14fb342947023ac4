"""HTML split into blocks of text with inline elements, and the tags between them. Nothing is validated."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from headway.ext.documents.blocks import (
    LINE_BREAK,
    Block,
    Kind,
    Part,
    find_partners,
    make_kept,
    make_node,
    make_nodes,
)
from headway.ext.documents.html.elements import (
    BORDERS,
    CLOSING,
    HIDDEN,
    READINGS,
    OpenElements,
    find_element_end,
    is_kept,
    is_void,
)
from headway.ext.documents.html.gaps import find_gaps
from headway.ext.documents.html.templates import has_go_blocks, is_control, make_template
from headway.ext.documents.html.tokens import Token, tokenize

# A character reference; no character has eight digits.
_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")


def scan(source: str, language: str = "") -> Iterator[tuple[str, list[Token]]]:
    """Yield the parts of HTML: text, template, open, close, void, kept or block, and the tokens of the part.

    Args:
        source: The HTML.
        language: Its language code; what is in another language is kept. "": it is not known.
    """
    tokens, around, at = list(tokenize(source)), OpenElements(), 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        name, kind = token.name, str(token.kind)
        if kind == "other":
            kind = "block" if token.text[:9].lower() == "<!doctype" else "kept"
        elif is_kept(token, language):
            kind, end = "kept", find_element_end(tokens, at, around)
        elif name in BORDERS:
            kind = "block"
        elif kind == "open" and is_void(token):
            kind = "void"
        if kind != "kept" and name in CLOSING:
            around.follow(token)
        yield kind, tokens[at:end]
        at = end


def parse_html(source: str, language: str = "") -> list[str | Block]:
    """Split HTML into the tags at which texts end, which stay as they are, and the blocks of text between them.

    Args:
        source: The HTML.
        language: See `scan`.
    """
    return make_nodes(read_parts(source, language), _make_apart)


def read_parts(source: str, language: str = "") -> Iterator[Part]:
    """Yield text and tags; tags at which texts end are breaks. See `scan`."""
    with_go = has_go_blocks(source)
    for kind, tokens in scan(source, language):
        raw, name = "".join(token.text for token in tokens), tokens[0].name
        if kind == "text":
            yield Part("text", raw, decode_text(tokens[0]))
        elif kind == "template":
            yield Part("break", raw) if is_control(raw, with_go) else make_template(raw)
        elif kind == "block" or name in BORDERS:
            yield Part("break", raw)
        elif kind == "kept" and name in READINGS:
            yield Part("dropped", raw)
        elif kind == "kept":
            yield make_kept(raw, "" if name in HIDDEN else _read_text(tokens))
        else:
            inline: Kind = "open" if kind == "open" else "close" if kind == "close" else "point"
            yield Part(inline, raw, name=name)


def _read_text(tokens: Sequence[Token]) -> str:
    return "".join(decode_text(token) for token in tokens if token.kind in ("text", "template"))


def _make_apart(run: Sequence[Part]) -> Iterator[str | Block]:
    """Yield the blocks of a line, and what stands between links and other elements that are seen apart."""
    at = 0
    for gap in find_gaps(run):
        yield from _make_trimmed(run[at : gap.start])
        yield "".join(part.source for part in run[gap.start : gap.stop])
        at = gap.stop
    yield from _make_trimmed(run[at:])


def _make_trimmed(run: Sequence[Part]) -> Iterator[str | Block]:
    """Yield a block between the tags of elements that begin before it or end behind it, which do not move with its words."""
    partner = find_partners(run)
    start = _count_outer(run, partner, range(len(run)))
    end = len(run) - _count_outer(run, partner, range(len(run) - 1, start - 1, -1))
    yield "".join(part.source for part in run[:start])
    yield make_node(run[start:end])
    yield "".join(part.source for part in run[end:])


def _count_outer(run: Sequence[Part], partner: Mapping[int, int], numbers: Sequence[int]) -> int:
    """Return how many parts, in an order, end with a tag without a partner before anything else than such tags."""
    count = 0
    for place, number in enumerate(numbers, 1):
        part = run[number]
        if part.kind in ("open", "close") and number not in partner:
            count = place
        elif part.kind != "text" or part.source.strip():
            break
    return count


def decode_text(token: Token) -> str:
    """Return what text means: without character references and line breaks."""
    text = token.content
    text = text if token.is_data else html.unescape(_NUMBER.sub(r"&#\1", text))
    return LINE_BREAK.sub(" ", text)
