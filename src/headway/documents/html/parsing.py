"""HTML split into block tags and blocks of text with inline elements. Nothing is validated."""

import html
import re
from collections.abc import Iterator

from headway.documents.blocks import Block, Part, make_nodes
from headway.documents.html.elements import BLOCKS, OpenElements, find_element_end, is_kept, is_void
from headway.documents.html.tokens import Token, tokenize

# A character reference; no character has eight digits.
_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")
_LINE_BREAK = re.compile(r"(?<!\s)\s*[\n\r]\s*")


def scan(source: str) -> Iterator[tuple[str, list[Token]]]:
    """Yield the parts of HTML: text, open, close, void, kept or block, and the tokens of the part."""
    tokens, around, at = list(tokenize(source)), OpenElements(), 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        kind = str(token.kind)
        if kind == "other":
            kind = "block" if token.text[:9].lower() == "<!doctype" else "kept"
        elif is_kept(token):
            kind, end = "kept", find_element_end(tokens, at, around)
        elif token.name in BLOCKS:
            kind = "block"
            around.follow(token)
        elif kind == "open" and is_void(token):
            kind = "void"
        yield kind, tokens[at:end]
        at = end


def parse_html(source: str) -> list[str | Block]:
    """Split HTML into block tags, which stay as they are, and the blocks of text between them."""
    return make_nodes(read_parts(source))


def read_parts(source: str) -> Iterator[Part]:
    """Yield text and tags; block tags are breaks."""
    for kind, tokens in scan(source):
        raw = "".join(token.text for token in tokens)
        match kind:
            case "text":
                yield Part("text", raw, _decode(raw))
            case "block":
                yield Part("break", raw)
            case "open" | "close":
                yield Part(kind, raw, name=tokens[0].name)
            case _:
                yield Part("point", raw)


def _decode(source: str) -> str:
    """Return what text means: without character references and line breaks."""
    return _LINE_BREAK.sub(" ", html.unescape(_NUMBER.sub(r"&#\1", source)))
