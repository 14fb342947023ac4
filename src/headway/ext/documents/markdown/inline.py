"""The text of a Markdown paragraph and its inline markup."""

import re
from collections.abc import Iterator, Sequence

from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from headway.ext.documents.html.elements import HIDDEN, VOID, is_kept
from headway.ext.documents.html.page import find_inner_texts
from headway.ext.documents.html.tokens import read_templates, tokenize
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.marked_text import (
    MarkedEntry,
    MarkedText,
    Part,
    WriteParagraph,
    join_sources,
    make_kept,
    replace_elements,
    write_paragraph,
)
from headway.ext.documents.paragraph import Paragraph, Translated


def _join_kept(element: Sequence[Part], language: str) -> Part | None:
    """Return an element of HTML that is not translated as one part; None: it is another one."""
    name = element[0].name.strip("<>")
    if name == element[0].name or not is_kept(next(tokenize(element[0].source)), language):
        return None
    text = "".join(part.text for part in element if part.kind in ("text", "code"))
    return make_kept("".join(part.source for part in element), "" if name in HIDDEN else text)


OPENING = "!["  # of an image
# From the bracket that ends the label to the end of the link; the parser has found that it is one. A definition without an
# address is a comment: [//]: # (This is a comment)
_TITLE = re.compile(
    r"""
    \](?:\(|:(?!\s*+(?:\#|<>)\s)) \s*+ (?:<[^<>\n]*+>|\S++) \s++
    ( "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+' | \((?:[^()\\\n]|\\.)*+\) )
    \s*+ \)? \s*+ \Z
    """,
    re.VERBOSE,
)
_WITH_TITLES = ("link", "image", "definition")


def make_text(parts: Sequence[Part], language: str, write: WriteParagraph) -> MarkedText:
    """Return a text of a Markdown file, with the texts in its markup.

    Args:
        parts: Its text and markup.
        language: Language code of the file; "" if it is not known.
        write: Returns the source of a translated block.
    """
    whole = [
        part
        if part.kind in ("text", "code")
        else part._replace(inner=(*_find_inner_texts(part, language),))
        for part in parts
    ]
    joined = replace_elements(whole, lambda _, element, __: _join_image(element, write))
    return MarkedText(joined, write)


def _find_inner_texts(part: Part, language: str) -> Iterator[MarkedEntry]:
    """Yield the title of a link, and the attributes of an HTML tag that have one line.

    A value in several lines can have marks of a quote in it, and a line break that is written as ``&#10;`` would
    become one.
    """
    if part.kind == "close" and part.name in _WITH_TITLES:
        if title := _TITLE.match(part.source):
            yield _make_title(part.source, title.start(1) + 1, title.end(1) - 1)
    elif part.source.startswith("<") and "=" in part.source:
        for each in find_inner_texts(next(tokenize(part.source)), LanguagePair(language, "")):
            texts = part.source[each.start : each.end], *(own.text for own in each.paragraphs)
            if all(len(text.splitlines()) < 2 for text in texts):
                yield each


def _make_title(source: str, start: int, end: int) -> MarkedEntry:
    """Return a title between quotes or brackets."""
    quotes = re.escape(source[start - 1] + source[end])
    special = re.compile(rf"[{quotes}]|\\(?=[!-/:-@\[-`{{-~]|\Z)|&(?=#?\w+;)")
    parts = [*read_templates(source[start:end], unescapeAll)]

    def write(block: Paragraph, translated: Translated) -> str:
        return write_paragraph(block, translated, lambda text: special.sub(r"\\\g<0>", text))

    return MarkedEntry(start, end, MarkedText(parts, write))


def _join_image(element: Sequence[Part], write: WriteParagraph) -> Part | None:
    """Return an image as one part: its alternative text is no part of the sentence around it. None: it is no image.

    If the alternative text changes, a reference no longer has its name in it.
    """
    if element[0].source != OPENING:
        return None
    _, *label, closing = element
    source = join_sources(element)
    end = len(source) - len(closing.source)
    titles = (each._replace(start=end + each.start, end=end + each.end) for each in closing.inner)
    own = closing.source if closing.text else ""
    alternative = MarkedEntry(
        len(OPENING),
        end + len(own),
        MarkedText([*label, Part("break", own)], write),
        lambda written: written.removesuffix(own) + closing.text,
    )
    return Part("point", source, inner=(alternative, *titles))


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
) -> Sequence[Part]:
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
    return replace_elements(parts, lambda _, element, __: _join_kept(element, language))


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
    elif kind == "kept":  # tags of templates that print nothing, and attributes, stand for no word
        is_word = raw.startswith("{{") or not raw.startswith("{")
        yield make_kept(raw, " ".join(raw.split()) if is_word else "")
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
