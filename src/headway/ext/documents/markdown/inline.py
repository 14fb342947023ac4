"""The text of a Markdown paragraph and its inline markup."""

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from headway.ext.documents.blocks import Part, make_kept
from headway.ext.documents.html.elements import VOID
from headway.ext.documents.html.templates import make_template
from headway.ext.documents.markdown.images import OPENING
from headway.ext.documents.markdown.kept_elements import keep_elements

# Bare addresses, names of pages and people, keys and symbols are kept as text; marks of notes, citations (a key, and perhaps
# a page), marks of words and check boxes are marks.
_KEPT = re.compile(
    r"(?P<code>https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?*_'\"]|\[\[[^\[\]\n]+\]\]|\+\+[\w+-]+\+\+|(?<!\w):[a-z][a-z0-9_+-]*:(?!\w)|(?<![\w@/.-])@[^\W\d](?:[\w:/.-]*\w)?)"
    r"|(?P<start>\A\[[ xX]\]\s)"
    r"|\[\^[^\]\s]{1,100}\]|\[-?@\w[\w:.#$%&+?<>~/-]*+(?:[,;][^\[\]\n]*|\s++(?:[a-z]{1,6}\.\s*+)?[§¶]*+\s*+\d[^\[\]\n]*)?\]|(?<![\w=])==(?=\w)|(?<=\w)==(?![\w=])"
)
# Of a paragraph, for links of Obsidian, at its end; Ctrl+C may be written as ^C.
_NAME = re.compile(r"(?<!\S)\^(?![A-Z]\Z)[\w-]+\Z")
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*+)[^>]*?(/?)>\Z", re.DOTALL)


def read_parts(
    tokens: Sequence[Token], places: Sequence[int], source: str, language: str
) -> list[Part]:
    """Return the text and the marks of a paragraph; line breaks and marks before the text are breaks.

    Args:
        tokens: The inline tokens of the paragraph, from `make_parser`.
        places: Where each character of the paragraph is in the file, and where it ends.
        source: The text of the file.
        language: Its language code; elements in other languages are kept. "": it is not known.
    """
    name = _NAME.search(source, places[0], places[-1])
    named = places[: len(places) - len(name[0])] if name else places
    parts = [*_make_parts(tokens, named, source)]
    if name:
        parts.append(Part("point", name[0]))
    return keep_elements(parts, language)


def _make_parts(tokens: Sequence[Token], places: Sequence[int], source: str) -> Iterator[Part]:
    """Yield the parts of a paragraph, or of the label of an image."""
    is_autolink, at = False, 0
    for token in tokens:
        if "span" not in token.meta:
            continue
        if is_autolink:  # of the three tokens of an address the last one; the first stands for all
            is_autolink = False
            continue
        start, end = token.meta["span"]
        if token.type in ("em_open", "strong_open", "s_open"):
            start = end - len(token.markup)
        elif token.type in ("em_close", "strong_close", "s_close"):
            end = start + len(token.markup)
        elif token.type == "text":  # a mark without a partner
            continue
        elif token.type == "hardbreak":  # the spaces before it make the break
            while start > at and source[places[start] - 1 : places[start]] == " ":
                start -= 1
        elif token.type == "link_open":
            is_autolink = token.markup == "autolink"
            end = end if is_autolink else start + 1
        elif token.type == "link_close":
            start = token.meta["label"][1]
        yield from _make_text(source[places[at] : places[start]])
        at = end
        yield from _make_part(token, source[places[start] : places[end]], places, source)
    yield from _make_text(source[places[at] : places[-1]])


def _make_text(raw: str) -> Iterator[Part]:
    """Yield a text between marks: what no rule of Markdown takes."""
    at = 0
    for found in _KEPT.finditer(raw):
        if at < found.start():
            yield _text(raw[at : found.start()])
        if found["code"]:
            yield make_kept(found[0], found[0])
        else:
            yield Part("break" if found["start"] else "point", found[0])
        at = found.end()
    if at < len(raw):
        yield _text(raw[at:])


def _text(raw: str) -> Part:
    return Part("text", raw, raw.replace("\\|", "|"))


def _make_part(token: Token, raw: str, places: Sequence[int], source: str) -> Iterator[Part]:
    """Yield the parts of a token."""
    kind = token.type
    if kind in ("softbreak", "hardbreak"):
        yield Part("text", raw, " ") if kind == "softbreak" else Part("break", raw)
    elif kind == "text_special":
        yield Part("text", raw, token.content)
    elif kind == "code_inline":
        yield make_kept(raw, " ".join(raw.strip("`").split()))
    elif kind == "formula":
        yield make_kept(raw, " ".join(raw.split()))
    elif kind == "template":
        yield make_template(raw)
    elif kind == "link_open" and token.markup == "autolink":
        yield make_kept(raw, raw[1:-1])
    elif kind.endswith("_open"):
        yield Part("open", raw, name=kind.removesuffix("_open"))
    elif kind == "link_close":
        start, end = (places[place] for place in token.meta["label"])
        yield Part("close", raw, _name_reference(raw, source[start:end]), name="link")
    elif kind.endswith("_close"):
        yield Part("close", raw, name=kind.removesuffix("_close"))
    elif kind == "image":
        start, end = token.meta["label"]
        label, inner = source[places[start] : places[end]], places[start : end + 1]
        after = raw[len(OPENING) + len(label) :]
        yield Part("open", OPENING, name="image")
        yield from _make_parts(token.children or [], inner, source)
        yield Part("close", after, _name_reference(after, label), name="image")
    elif tag := _TAG.match(raw):
        name = tag[2].lower()
        if name in VOID or tag[3]:
            yield Part("break" if name == "br" else "point", raw)
        else:
            yield Part("close" if tag[1] else "open", raw, name=f"<{name}>")
    else:
        yield Part("point", raw)


def _name_reference(after: str, label: str) -> str:
    """Return the end of a link that names its reference, which the label alone named before; "": it is another link."""
    return f"][{label}]" if after in ("]", "][]") else ""
