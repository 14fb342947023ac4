"""Texts of HTML that are no part of a paragraph, such as attributes and texts of drawings; and language codes."""

import html
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Literal, NamedTuple

from headway.ext.documents.blocks import (
    Block,
    Part,
    join_nodes,
    make_translatable_nodes,
    write_block,
)
from headway.ext.documents.html.elements import (
    EMBEDDED,
    WHOLE,
    OpenElements,
    find_code,
    find_element_end,
    find_language_attributes,
    find_names,
    is_kept,
    is_locale,
    is_untranslated,
)
from headway.ext.documents.html.parsing import decode_text, scan
from headway.ext.documents.html.templates import TEMPLATE, has_go_blocks, is_control, make_template
from headway.ext.documents.html.tokens import Token, tokenize
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.text_file import Edit, apply_edits

_UNDIRECTED = ("bdo", "svg")  # a direction of its own, and none


class Value(NamedTuple):
    """A text that is no part of a paragraph.

    Attributes:
        start: Where it starts in the document.
        end: Where it ends.
        nodes: The texts in it, and tags of template engines at which texts end.
        kind: Whether it stands in an attribute or between tags.
    """

    start: int
    end: int
    nodes: list[str | Block]
    kind: Literal["attribute", "text"]

    @property
    def blocks(self) -> list[Block]:
        """The texts in it."""
        return [node for node in self.nodes if isinstance(node, Block)]


def find_values(source: str, language: str) -> list[Value]:
    """Return the values of a document, but not those of untranslated elements.

    Args:
        source: The document.
        language: Its language code; "" if it is not known.
    """
    with_go = has_go_blocks(source)
    tokens = _find_tokens(source, language)
    found = (value for token, at in tokens for value in _read(token, at, with_go))
    return sorted(value for value in found if value.blocks)


def _find_tokens(source: str, language: str) -> Iterator[tuple[Token, int]]:
    """Yield the tokens that can have values, each with its place in the document."""
    at = 0
    for kind, tokens in scan(source, language):
        starts = [*accumulate((len(token.text) for token in tokens), initial=at)]
        for number in _find_seen(kind, tokens, language):
            yield tokens[number], starts[number]
        at = starts[-1]


def _find_seen(kind: str, tokens: Sequence[Token], language: str) -> Iterator[int]:
    """Yield the numbers of the tokens of a part of HTML that have values."""
    name = tokens[0].name
    if is_untranslated(tokens[0], language):
        return
    if kind == "kept" and name == "svg":
        yield from find_seen(tokens, language)
    elif kind in ("open", "void", "block") or (kind == "kept" and name in EMBEDDED):
        yield 0


def _read(token: Token, at: int, with_go: bool) -> Iterator[Value]:
    """Yield the values of a token.

    Args:
        token: A text or a tag.
        at: Where it starts in the document.
        with_go: See `is_control`.
    """
    if token.kind == "text":
        part = Part("text", token.text, decode_text(token))
        yield Value(at, at + len(token.text), make_translatable_nodes([part]), "text")
    for name in find_names(token):
        start, end = token.spans[name]
        parts = _read_attribute(token.attributes[name], with_go)
        yield Value(at + start, at + end, make_translatable_nodes(parts), "attribute")


def _read_attribute(source: str, with_go: bool) -> Iterator[Part]:
    """Yield the text and the tags of template engines in an attribute."""
    for number, raw in enumerate(TEMPLATE.split(source)):
        if number % 2:
            yield Part("break", raw) if is_control(raw, with_go) else make_template(raw)
        elif raw:
            yield Part("text", raw, html.unescape(raw))


def find_language(source: str) -> str:
    """Return the language code of a whole document; "" if it names none."""
    for token in tokenize(source):
        if token.kind == "open" and token.name == "html":
            return find_code(token)
    return ""


def replace_values(source: str, values: Sequence[Value], translations: Iterator[Translated]) -> str:
    """Return a document with translated values.

    Args:
        source: The document.
        values: From `find_values`.
        translations: One for each of their blocks, which are taken.
    """
    edits = []
    for value in values:
        before = source[value.start - 1] if value.kind == "attribute" else ""
        written = _write(value, before, translations)
        if written != source[value.start : value.end]:
            edits.append(Edit(value.start, value.end, _enclose(written, before)))
    return apply_edits(source, edits)


def _write(value: Value, before: str, translations: Iterator[Translated]) -> str:
    """Return the source of a translated value; see `_escape`."""
    escape = partial(_escape, before=before)
    return join_nodes(value.nodes, lambda each: write_block(each, next(translations), escape))


def replace_languages(source: str, language: LanguagePair) -> str:
    """Return a document with the language codes of its translation, and the direction of its text.

    Args:
        source: The document.
        language: The languages of the translation.
    """
    edits: list[Edit] = []
    for token, at in _find_tokens(source, language.source):
        edits += _edit_direction(token, at, language)
        for name in find_language_attributes(token):
            if language.replaces(html.unescape(token.attributes[name])):
                start, end = token.spans[name]
                code = language.target.replace("-", "_") if is_locale(token) else language.target
                written = _enclose(code, token.text[start - 1])
                edits.append(Edit(at + start, at + end, written))
    return apply_edits(source, edits)


def _edit_direction(token: Token, at: int, language: LanguagePair) -> Iterator[Edit]:
    """Yield the edit that gives a tag the direction of the translation.

    The whole page gets it, and elements of the text's language. Others get it if they name the direction from right to
    left: the other one may belong to numbers and code.
    """
    if token.kind != "open" or token.name in _UNDIRECTED or not language.directions:
        return
    before, after = language.directions
    names_language = language.replaces(find_code(token))
    is_own = names_language or token.name in WHOLE or before == "rtl"
    span = token.spans.get("dir")
    if span and is_own and token.attributes["dir"].strip().lower() == before:
        start, end = span
        yield Edit(at + start, at + end, _enclose(after, token.text[start - 1]))
    elif span is None and (names_language or (token.name == "html" and not find_code(token))):
        place = at + 1 + len(token.name)
        yield Edit(place, place, f' dir="{after}"')


def _escape(text: str, before: str) -> str:
    """Return the source of a text; ``before`` is the character before its attribute's value, "": it is in none."""
    escaped = html.escape(text, quote=False)
    if before == "'":
        return escaped.replace("'", "&#39;")
    return escaped.replace('"', "&quot;") if before else escaped


def _enclose(value: str, before: str) -> str:
    """Return the source of an attribute's value, in quotes if the old one has none; see `_escape`."""
    return f'"{value}"' if before and before not in "\"'" else value


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
